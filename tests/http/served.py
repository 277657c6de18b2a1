"""A served corpus with quick parts, keys for some people, and a client for each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from fonte.access.identity import Action, Identity
from fonte.access.keys import mint
from fonte.http.app import create_app
from fonte.http.served import Limits, Served
from fonte.stores.home import Home
from fonte.types import Principal
from fonte.working import Worker
from quick_corpus import Shelf, Shelves, quick_corpus

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
TEXTS = {
    "pump.txt": ("The pump of the north tower runs at seven bar.", frozenset({"public"})),
    "salaries.txt": ("The salary of the director is ninety thousand euro a year.", frozenset({"hr"})),
    "ada.txt": ("Ada keeps the spare key of the pump in drawer nine.", frozenset({"user:ada"})),
}


@dataclass
class House:
    """The server's parts, and clients by name."""

    served: Served
    app: Any

    def client(self, principal: Principal | None = None, *actions: Action, host: str = "localhost") -> TestClient:
        """Somebody with a key of their own; without a principal whoever sits at the machine."""
        headers = {}
        if principal is not None:
            made = mint(self.served.keys, principal, actions or (Action.READ,), now=self.served.now())
            headers["authorization"] = f"Bearer {made.text}"
        return TestClient(self.app, base_url=f"http://{host}", headers=headers, raise_server_exceptions=False)


def make_house(home: Path, *, limits: Limits | None = None, local: bool = True, **changed: Any) -> House:
    """Two tenants, each with the same names and words of its own."""
    other = {name: (f"{text} Meridian says so.", roles) for name, (text, roles) in TEXTS.items()}
    corpus = quick_corpus(home, Shelves({"one": Shelf(TEXTS), "two": Shelf(other)}))
    corpus.sync("memory://one")
    corpus.sync("memory://two", tenant="meridian")
    stores = Home(home)
    who = Identity("local", Principal(), frozenset(Action)) if local else None
    served = Served(
        corpus,
        stores.keys(),
        stores.sessions(),
        stores.audit(),
        who,
        work=Worker(corpus, stores.jobs),
        feedback=stores.feedback,
        limits=limits or Limits(),
        now=lambda: NOW,
    )
    served = replace(served, **changed)
    return House(served, create_app(served))
