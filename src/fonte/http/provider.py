"""Signing in through an identity provider: OpenID Connect's authorization code flow with PKCE (RFC 7636).

What a sign-in needs until the browser comes back (state, nonce, verifier) stays in that browser, in a cookie that
scripts cannot read: somebody else's answer does not fit it, and an unfinished sign-in takes no room here.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import httpx

from fonte.access.identity import Identity
from fonte.access.keys import unauthenticated
from fonte.errors import Overloaded
from fonte.http.tokens import TIMEOUT_SECONDS, JwtTokens, discovered, read_json

_FAULTS = (httpx.HTTPError, ValueError, TypeError)


@dataclass(frozen=True, slots=True)
class Login:
    """What a browser keeps between going to the provider and coming back."""

    state: str
    nonce: str
    verifier: str

    def as_text(self) -> str:
        """One word of a cookie."""
        return f"{self.state}.{self.nonce}.{self.verifier}"


def login_of(text: str | None) -> Login:
    """What ``as_text`` gave. Raises Unauthenticated."""
    parts = (text or "").split(".")
    if len(parts) != 3 or not all(parts):  # noqa: PLR2004 - as many as Login has
        raise unauthenticated()
    return Login(*parts)


class Provider:
    """An identity provider that people are sent to."""

    def __init__(
        self, issuer: str, client_id: str, secret: str | None, redirect_uri: str, scope: str, tokens: JwtTokens
    ) -> None:
        """``tokens`` checks tokens that are meant for ``client_id``; without ``secret`` the client is a public one."""
        self._issuer = issuer
        self._client_id = client_id
        self._secret = secret
        self._redirect = redirect_uri
        self._scope = scope
        self._tokens = tokens

    def begin(self) -> tuple[str, Login]:
        """Where the browser goes, and what it keeps meanwhile.

        Raises:
            Overloaded: the provider cannot be asked.
        """
        login = Login(*(secrets.token_urlsafe(32) for _ in range(3)))
        challenge = base64.urlsafe_b64encode(hashlib.sha256(login.verifier.encode()).digest()).rstrip(b"=").decode()
        asked = {
            "response_type": "code",
            "client_id": self._client_id,
            "redirect_uri": self._redirect,
            "scope": self._scope,
            "state": login.state,
            "nonce": login.nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        with self._client() as client:
            try:
                address = str(discovered(client, self._issuer)["authorization_endpoint"])
            except (*_FAULTS, KeyError) as error:
                raise _away() from error
        return f"{address}{'&' if '?' in address else '?'}{urlencode(asked)}", login

    def finish(self, code: str, state: str, login: Login) -> Identity:
        """Who came back.

        Raises:
            Unauthenticated: it is not the answer to this sign-in, or the provider does not vouch for it.
            Overloaded: the provider cannot be asked.
        """
        if not secrets.compare_digest(state.encode(), login.state.encode()):
            raise unauthenticated()
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._redirect,
            "code_verifier": login.verifier,
        }
        auth = None if self._secret is None else (self._client_id, self._secret)
        form |= {"client_id": self._client_id} if auth is None else {}
        with self._client() as client:
            try:
                told: Any = read_json(client, str(discovered(client, self._issuer)["token_endpoint"]), form, auth)
            except httpx.HTTPStatusError as error:
                refused = error.response.is_client_error
                raise (unauthenticated() if refused else _away()) from error
            except (*_FAULTS, KeyError) as error:
                raise _away() from error
        token = told.get("id_token")
        if not isinstance(token, str):
            raise unauthenticated()
        return self._tokens.identify(token, login.nonce)

    def _client(self) -> httpx.Client:
        return httpx.Client(timeout=TIMEOUT_SECONDS, follow_redirects=False)


def _away() -> Overloaded:
    return Overloaded("the identity provider cannot be asked", hint="try again soon", after_seconds=20)
