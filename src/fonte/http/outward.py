"""What leaves the server about places and errors: folders of its machine, and commands for it, stay its own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Final
from urllib.parse import quote, unquote, urlsplit

from fonte.access.identity import Identity
from fonte.contract import Json

_LOCAL = "file:"
MESSAGES: Final = {
    "store": "the server's store cannot be used",
    "store_unavailable": "the server's store cannot be read or written at the moment",
    "home_locked": "something else is writing to the server's store",
    "schema_mismatch": "the server's store is of another version",
    "space_mismatch": "the server's index and its model do not fit together",
    "corrupt_index": "the server's store contradicts itself",
    "model_not_installed": "a model of this server is missing",
}
"""By code: errors whose own words may name files of the machine. The log has those."""
_COMMAND: Final = re.compile(r"\bfonte [a-z]|--[a-z]")
_OTHERS: Final = "whoever runs this server can mend it"
_INSTEAD: Final = (
    ("fonte publish", 'POST /v1/generations/{id}/publish with a reason as "override"'),
    ("fonte generations", "GET /v1/generations lists them"),
    ("fonte documents", "GET /v1/documents lists them"),
    ("--roles", "GET /v1/documents lists those that you may read"),
    ("fonte show", "GET /v1/documents/{id}/text tells what stands there"),
    ("fonte retry", "POST /v1/documents/{id}/retry"),
    ("fonte keys create", "a key comes from whoever runs this server"),
    ("fonte keys", "GET /v1/keys lists them"),
    ("--conversation", '"conversation_id": "new" begins one'),
    ("fonte sync", "add documents (POST /v1/documents) or read sources again (POST /v1/sync)"),
)
"""What a hint says over the wire that names this command or option; the first that fits."""


def outward(value: Json, who: Identity) -> Json:
    """The same JSON with links that can be followed: a citation's ``url`` leads to its place on this server's page.

    Whoever does not run the tenant sees of a local file's ``source_uri`` its name alone. An ``error`` is told as
    ``outward_error`` does.
    """
    return {key: _item(key, one, value, who) for key, one in value.items()}


def _item(key: str, value: object, around: Json, who: Identity) -> object:
    if isinstance(value, Mapping):
        if key == "error":
            return outward_error(value)
        return outward(dict(value), who)
    if isinstance(value, list):
        return [outward(one, who) if isinstance(one, dict) else one for one in value]
    if isinstance(value, str) and value.startswith(_LOCAL):
        if key == "url":
            return place_link(around)
        if key == "source_uri" and not who.runs_it:
            return PurePosixPath(unquote(urlsplit(value).path)).name
    return value


def outward_error(told: Mapping[str, object]) -> Json:
    """An error's JSON (code, message, hint, retryable) without files of the machine or commands to be typed there."""
    hint = str(told.get("hint", ""))
    if _COMMAND.search(hint):
        hint = next((instead for named, instead in _INSTEAD if named in hint), _OTHERS)
    return {**told, "message": MESSAGES.get(str(told.get("code")), told.get("message")), "hint": hint}


def place_link(citation: Json) -> str:
    """The address of a citation's or a result's place on this server's page, from its root."""
    locator = citation.get("locator")
    place = locator if isinstance(locator, Mapping) else {}
    document = quote(str(citation.get("document_id", "")), safe="")
    return f"/documents/{document}?from={place.get('from', 0)}&to={place.get('to', 0)}"
