"""Keys: made, shown once, kept as a hash, and found again.

A key is ``fonte_ID_SECRET``. The secret has 256 random bits, so that a plain hash of it cannot be reversed or guessed
and needs no salt or slow function (which are for passwords).
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from fonte.access.identity import Action, Identity
from fonte.access.records import KeyRecord, KeyStore
from fonte.errors import InputError, NotFound, Unauthenticated
from fonte.types import Principal, sha256_hex

_KEY = re.compile(r"fonte_([a-z2-7]{10})_([A-Za-z0-9_-]{43})")
_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"


@dataclass(frozen=True, slots=True)
class Minted:
    """A new key: ``text`` is shown once and kept nowhere."""

    text: str
    record: KeyRecord


def mint(
    store: KeyStore,
    principal: Principal,
    actions: Iterable[Action],
    *,
    now: datetime,
    lifetime: timedelta | None = None,
) -> Minted:
    """Make a key and keep its hash.

    Raises:
        InputError: no action, or a lifetime that is over at once.
    """
    wanted = frozenset(actions)
    if not wanted:
        raise InputError("a key that may do nothing", hint=f"name some of {', '.join(Action)}")
    if lifetime is not None and lifetime <= timedelta(0):
        raise InputError("a key that has expired already", hint="let it last longer")
    identity = "".join(secrets.choice(_ALPHABET) for _ in range(10))
    secret = secrets.token_urlsafe(32)
    record = KeyRecord(
        id=identity,
        secret_sha256=hashed(secret),
        principal=principal,
        actions=frozenset(action.value for action in wanted),
        created_at=now,
        expires_at=now + lifetime if lifetime is not None else None,
    )
    store.add_key(record)
    return Minted(f"fonte_{identity}_{secret}", record)


def rotate(store: KeyStore, key_id: str, *, now: datetime, grace: timedelta) -> Minted:
    """A new key with the same rights and as long a life; the old one ends after ``grace``.

    Raises:
        NotFound: no such key, or one that is over.
    """
    old = store.key(key_id)
    if old is None or not old.good_at(now):
        raise NotFound(f"there is no key {key_id!r} in force", hint="fonte keys list tells what is there")
    lifetime = old.expires_at - old.created_at if old.expires_at is not None else None
    new = mint(store, old.principal, (Action(one) for one in old.actions), now=now, lifetime=lifetime)
    ends = now + grace
    store.end_key(key_id, ends if old.expires_at is None else min(ends, old.expires_at))
    return new


def identify(store: KeyStore, text: str, *, now: datetime) -> Identity:
    """Who the key was given to.

    Raises:
        Unauthenticated: it is none, unknown, expired or revoked; from outside the same.
    """
    match = _KEY.fullmatch(text)
    record = store.key(match[1]) if match else None
    # Compared in any case, so that the time taken tells nothing of whether the id is known.
    kept = record.secret_sha256 if record is not None else hashed("")
    right = hmac.compare_digest(kept, hashed(match[2] if match else ""))
    if record is None or not right or not record.good_at(now):
        raise unauthenticated()
    return identity_of(record)


def identity_of(record: KeyRecord) -> Identity:
    """Who a key was given to, with what they may do."""
    who = record.principal
    who = who if who.user is not None else replace(who, key=record.id)
    return Identity(f"key:{record.id}", who, frozenset(Action(one) for one in record.actions))


def key_id(text: str) -> str:
    """The id in a key's text; empty where it has none."""
    match = _KEY.fullmatch(text)
    return match[1] if match else ""


def unauthenticated() -> Unauthenticated:
    """The one refusal of whoever is not known."""
    return Unauthenticated(
        "this needs a key or a token that is good", hint="send Authorization: Bearer KEY; fonte keys create makes one"
    )


def looks_like_key(text: str) -> bool:
    """Whether it has the form of a key of ours; a token of an identity provider has not."""
    return text.startswith("fonte_")


def key_told(record: KeyRecord) -> dict[str, object]:
    """A key as JSON; its secret is not known any more."""
    return {
        "id": record.id,
        "tenant": record.principal.tenant,
        "user": record.principal.user,
        "roles": sorted(record.principal.roles),
        "actions": sorted(record.actions),
        "created_at": record.created_at.isoformat(),
        "expires": record.expires_at.isoformat() if record.expires_at else None,
    }


def hashed(secret: str) -> str:
    """What is kept of a secret."""
    return sha256_hex(secret.encode("utf-8", "surrogatepass"))
