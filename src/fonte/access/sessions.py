"""Sessions of browsers: a random secret in a cookie, kept here as a hash beside the key or identity it was begun with.

A session of a key is worth what its key is worth at that moment: one that was revoked or ran out ends its sessions at
once. What an identity provider said holds until the session ends.
"""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta

from fonte.access import keys
from fonte.access.identity import Identity
from fonte.access.records import KeyStore, SessionRecord, SessionStore

LIFETIME = timedelta(hours=12)


def begin(store: SessionStore, key: str, *, now: datetime) -> str:
    """The secret of a new session of a key that was found to be good."""
    secret = secrets.token_urlsafe(32)
    store.add_session(SessionRecord(keys.hashed(secret), now + LIFETIME, key_id=keys.key_id(key)), now)
    return secret


def begin_told(store: SessionStore, identity: Identity, *, now: datetime) -> str:
    """The secret of a new session of somebody for whom an identity provider vouches."""
    secret = secrets.token_urlsafe(32)
    store.add_session(SessionRecord(keys.hashed(secret), now + LIFETIME, identity=identity), now)
    return secret


def identify(store: SessionStore, known: KeyStore, secret: str, *, now: datetime) -> Identity:
    """Who a session was begun by.

    Raises:
        Unauthenticated: it is none, is over, or its key is.
    """
    session = store.session(keys.hashed(secret))
    if session is None or now >= session.ends_at:
        raise keys.unauthenticated()
    if session.identity is not None:
        return session.identity
    record = known.key(session.key_id) if session.key_id is not None else None
    if record is None or not record.good_at(now):
        raise keys.unauthenticated()
    return keys.identity_of(record)


def end(store: SessionStore, secret: str) -> None:
    """Forget a session, if there is one: whoever is unknown makes nobody write."""
    secret_sha256 = keys.hashed(secret)
    if store.session(secret_sha256) is not None:
        store.end_session(secret_sha256)
