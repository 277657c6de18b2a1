"""One of the writers of a history: does what it draws until it is told to end, and writes down each thing that it did.

``python -m faults.history_worker HOME NAME SEED`` prints one line of JSON for each operation.

Two of the documents of a writer are plain: always there, for everybody, changed now and then. The others are taken
away and given back: narrowed to ``hr``, deleted, erased. Only their own writer touches them.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import Any

from property.quick_corpus import Shelf, Shelves, quick_corpus

from fonte.errors import FonteError, HomeLocked

PUBLIC, HR = frozenset({"public"}), frozenset({"hr"})
PLAIN, SHY = 2, 3
PAUSE = 0.02


def text_of(name: str, version: int) -> str:
    """A document's text; which one it is of whom can be read off it."""
    return f"The keeper of {name} wrote version {version} of the rules of its hall."


class Writer:
    """One writer with a source of its own."""

    def __init__(self, home: Path, name: str, seed: int) -> None:
        self.name, self.draw = name, random.Random(seed)
        self.shelves = Shelves()
        self.corpus = quick_corpus(home, self.shelves)
        self.names = [f"{name}{at}.txt" for at in range(PLAIN + SHY)]
        self.versions = dict.fromkeys(self.names, 0)
        self.roles = dict.fromkeys(self.names, PUBLIC)
        self.gone: set[str] = set()
        self.candidates: list[tuple[str, int]] = []
        self.told: set[str] = set()
        self.number = 0

    def shelve(self) -> None:
        texts = {
            name: (text_of(name, self.versions[name]), self.roles[name]) for name in self.names if name not in self.gone
        }
        self.shelves.by_name[self.name] = Shelf(texts, root=f"memory://{self.name}/")

    def said(self, what: str, run: Callable[[], Any], **told: Any) -> Any:
        """Do it, however long another one writes, and say when it began and ended and what came of it.

        What is active then, and what the generations hold that nobody told of yet, is read before another may write.
        """
        catalog = self.corpus._store_of("default").catalog
        while True:
            began, made, error, after = time.monotonic(), None, None, {}
            try:
                if what == "delete":  # needs no lock
                    made = run()
                else:
                    with catalog.writer():
                        made = run()
                        active = catalog.active()
                        after = {"active": active.id if active else None, "content": self.content()}
            except HomeLocked:
                time.sleep(self.draw.uniform(0, PAUSE))
                continue
            except FonteError as refused:
                error = f"{refused.code}: {refused.message}"
            line = {"what": what, "by": self.name, "began": began, "ended": time.monotonic(), "error": error}
            print(json.dumps(line | told | after), flush=True)
            return made

    def content(self) -> dict[str, dict[str, int]]:
        """Versions by name of every generation that was not told of yet, by the texts in the catalog."""
        catalog, found = self.corpus._store_of("default").catalog, {}
        for one in catalog.generations():
            if one.id not in self.told and one.state != "building":
                texts = [catalog.document(one.id, state.document_id) for state in catalog.states(one.id)]
                found[one.id] = {text.name: int(text.text.split("version ")[1].split()[0]) for text in texts if text}
                self.told.add(one.id)
        return found

    def sync(self, *, publish: bool = True) -> None:
        """The plain documents and one other change; those that may come back are given back now and then."""
        for name in self.draw.sample(self.names, 2):
            self.versions[name] += 1
        shy = self.names[PLAIN:]
        name = self.draw.choice(shy)
        self.roles[name] = self.draw.choice([PUBLIC, HR])
        if self.draw.random() < 0.4:
            self.gone.discard(self.draw.choice(shy))
        self.shelve()
        shelf = {one: sorted(roles) for one, (_, roles) in self.shelves.by_name[self.name].texts.items()}
        self.number += 1
        made = self.said(
            "sync" if publish else "candidate",
            lambda: self.corpus.sync(self.name, publish=publish),
            shelf=shelf,
            number=self.number,
        )
        if made is not None and not made.published:
            self.candidates.append((made.generation, self.number))

    def publish(self) -> None:
        if self.candidates:
            one, number = self.candidates.pop()
            self.said("publish", lambda: self.corpus.publish(one, override="a test"), number=number)

    def take_away(self, how: str) -> None:
        name = self.draw.choice(self.names[PLAIN:])
        self.gone.add(name)
        uri = f"memory://{self.name}/{name}"
        run = self.corpus.delete if how == "delete" else self.corpus.erase
        self.said(how, lambda: run(uri), name=name)

    def run(self) -> None:
        over = Event()
        Thread(target=lambda: (sys.stdin.read(), over.set()), daemon=True).start()
        self.sync()
        while not over.is_set():
            kind = self.draw.random()
            if kind < 0.45:
                self.sync()
            elif kind < 0.6:
                self.sync(publish=False)
            elif kind < 0.7:
                self.publish()
            elif kind < 0.8:
                self.said("rollback", self.corpus.rollback)
            elif kind < 0.92:
                self.take_away("delete")
            else:
                self.take_away("erase")
            time.sleep(self.draw.uniform(0, PAUSE))


def main() -> None:
    """Write until standard input ends."""
    home, name, seed = sys.argv[1:]
    writer = Writer(Path(home), name, int(seed))
    writer.run()
    writer.corpus.close()


if __name__ == "__main__":
    main()
