"""What leaves the server about places: folders of its machine stay its own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from urllib.parse import quote, unquote, urlsplit

from fonte.access.identity import Identity
from fonte.contract import Json

_LOCAL = "file:"


def outward(value: Json, who: Identity) -> Json:
    """The same JSON with links that can be followed: a citation's ``url`` leads to its place on this server's page.

    Whoever does not run the tenant sees of a local file's ``source_uri`` its name alone.
    """
    return {key: _item(key, one, value, who) for key, one in value.items()}


def _item(key: str, value: object, around: Json, who: Identity) -> object:
    if isinstance(value, Mapping):
        return outward(dict(value), who)
    if isinstance(value, list):
        return [outward(one, who) if isinstance(one, dict) else one for one in value]
    if isinstance(value, str) and value.startswith(_LOCAL):
        if key == "url":
            return place_link(around)
        if key == "source_uri" and not who.runs_it:
            return PurePosixPath(unquote(urlsplit(value).path)).name
    return value


def place_link(citation: Json) -> str:
    """The address of a citation's or a result's place on this server's page, from its root."""
    locator = citation.get("locator")
    place = locator if isinstance(locator, Mapping) else {}
    document = quote(str(citation.get("document_id", "")), safe="")
    return f"/documents/{document}?from={place.get('from', 0)}&to={place.get('to', 0)}"
