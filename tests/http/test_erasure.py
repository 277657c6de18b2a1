"""A planted word is in no file and no table of the home once what it was planted in is erased."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import lancedb
import pytest

from fonte.access.identity import Action
from fonte.types import Principal
from served import House, make_house
from test_uploads import ADA, WRITES, upload

WORD = "zyxomatic"
ROOT = Principal("default", "root")


def values(path: Path) -> Iterator[object]:
    """Every value of every table of a SQLite file."""
    with sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True) as connection:
        for (table,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
            for row in connection.execute(f'SELECT * FROM "{table}"'):
                yield from row
    connection.close()


def unpacked(value: object) -> bytes:
    """What stands in a value, zlib streams inside it unpacked."""
    body = value if isinstance(value, bytes) else str(value).encode()
    found, at = [body], 0
    while (at := body.find(b"\x78", at)) >= 0:
        with contextlib.suppress(zlib.error):
            found.append(zlib.decompressobj().decompress(body[at:]))
        at += 1
    return b"\n".join(found)


def places(home: Path, word: str) -> list[str]:
    """Where a word is left: in names and bytes of files, and in values of tables."""
    found, wanted = [], word.encode()
    for path in sorted(home.rglob("*")):
        if word in path.name.lower():
            found.append(f"name {path.name}")
        if path.is_file():
            body = path.read_bytes()
            found += [f"bytes of {path.relative_to(home)}"] if wanted in body.lower() else []
            if path.suffix == ".sqlite":
                found += [f"value in {path.name}" for one in values(path) if wanted in unpacked(one).lower()]
    for folder in home.glob("tenants/*/lance"):
        database = lancedb.connect(folder)
        for table in folder.glob("*.lance"):
            rows = database.open_table(table.stem).search().limit(None).to_arrow()
            found += [f"row of {table.name}"] if wanted in str(rows.to_pylist()).lower().encode() else []
    return found


@pytest.fixture
def planted(home: Path) -> Iterator[tuple[House, str]]:
    """A word in a text, name, title, question, answer, conversation, upload and feedback; the document's id."""
    house = make_house(home)
    ada, runs_it = house.client(ADA, *WRITES), house.client(ROOT, *Action)
    upload(ada, ("plain.txt", b"The plain document of hall two says nothing."))
    told = upload(
        ada,
        (f"{WORD}.md", f"# The {WORD} valve\n\nThe {WORD} valve of hall nine opens at four bar.".encode()),
        title=f"On {WORD}",
    )
    document = told["documents"][0]["document_id"]
    upload(ada, (f"{WORD}.md", f"# The {WORD} valve\n\nThe {WORD} valve of hall nine opens at five bar.".encode()))
    question = {"question": f"When does the {WORD} valve open?", "conversation_id": "new"}
    first = ada.post("/v1/ask", json=question).json()
    ada.post("/v1/ask", json={"question": f"And the {WORD}?", "conversation_id": first["conversation_id"]})
    ada.post("/v1/feedback", json={"answer_id": first["answer_id"], "verdict": "wrong", "comment": f"no {WORD}"})
    ada.post("/v1/search", json={"query": f"the {WORD} valve"})
    runs_it.post(f"/v1/documents/{document}/retry")
    until = time.monotonic() + 30
    while any(one["state"] in ("queued", "running") for one in runs_it.get("/v1/jobs").json()["jobs"]):
        assert time.monotonic() < until
        time.sleep(0.05)
    yield house, document
    house.served.work.close()
    house.served.corpus.close()


def erasing(home: Path, document: str) -> subprocess.Popen[bytes]:
    """Another process that says ``ready`` and erases a document."""
    here = Path(__file__).resolve().parent
    code = (
        "from pathlib import Path; from quick_corpus import quick_corpus; "
        f"corpus = quick_corpus(Path({str(home)!r})); print('ready', flush=True); corpus.erase({document!r})"
    )
    paths = [os.environ.get("PYTHONPATH", ""), str(here.parent / "property"), *sys.path]
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def test_an_erased_document_leaves_nothing(planted: tuple[House, str], home: Path) -> None:
    house, document = planted
    runs_it = house.client(ROOT, *Action)
    before = places(home, WORD)
    assert {"value in catalog.sqlite", "value in jobs.sqlite", "value in audit.sqlite"} <= set(before)
    assert any("lance" in one for one in before)
    assert house.client(ADA, *WRITES).delete(f"/v1/documents/{document}?erase=true").status_code == 403
    answer = runs_it.delete(f"/v1/documents/{document}?erase=true")
    assert (answer.status_code, answer.json()) == (200, {"erased": [document]})
    assert places(home, WORD) == []
    newest = runs_it.get("/v1/audit?limit=1").json()["entries"][0]
    assert (newest["action"], newest["subject"]) == ("DELETE /v1/documents/{document_id}", document)
    # The rest is as it was, and what is erased does not come back.
    assert len(runs_it.get("/v1/generations").json()["generations"]) == 1
    found = house.client(ADA).post("/v1/search", json={"query": "the pump of the north tower"}).json()["results"]
    assert found[0]["document_name"] == "pump.txt"
    house.served.corpus.resync("upload://")
    assert runs_it.get(f"/v1/documents/{document}").status_code == 404
    assert house.client(ADA).get("/v1/documents/plain.txt/text").status_code == 200
    assert places(home, WORD) == []


def test_another_process_erases_while_a_server_answers(planted: tuple[House, str], home: Path) -> None:
    house, document = planted
    ada = house.client(ADA)
    assert ada.post("/v1/search", json={"query": f"{WORD} valve"}).json()["results"]
    worker = erasing(home, document)
    assert worker.stdout is not None
    while worker.poll() is None:
        assert ada.post("/v1/search", json={"query": "the pump of the north tower"}).status_code == 200
    worker.stdout.close()
    assert worker.returncode == 0
    assert places(home, WORD) == []
    assert ada.get(f"/v1/documents/{document}").status_code == 404


def test_a_killed_erasure_is_completed_by_the_next(planted: tuple[House, str], home: Path) -> None:
    house, document = planted
    house.served.work.close()
    house.served.corpus.close()
    draw = random.Random(3)
    for _ in range(5):
        worker = erasing(home, document)
        assert worker.stdout is not None
        worker.stdout.readline()
        time.sleep(draw.uniform(0.0, 0.5))
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        worker.stdout.close()
    again = make_house(home)
    if places(home, WORD):
        again.served.corpus.erase(document)
    assert places(home, WORD) == []
    assert not list(home.rglob("erasing.json*"))
    again.served.corpus.close()


def test_an_erased_user_leaves_no_question(planted: tuple[House, str], home: Path) -> None:
    house, document = planted
    ada = house.client(ADA)
    ada.post("/v1/ask", json={"question": "Who is qwertzoid of the pump?"})
    assert places(home, "qwertzoid")
    house.client(ROOT, *Action).post("/v1/keys", json={"user": "ada"})
    house.served.corpus.erase_user("ada")
    assert all(not entry.subject.endswith("ada") for _, entry in house.served.audit.entries("default", limit=1000))
    assert places(home, "qwertzoid") == []
    assert ada.get("/v1/documents").status_code == 401
    users = {entry.user for _, entry in house.served.audit.entries("default", limit=1000)}
    assert "ada" not in users
    assert house.client(ROOT, *Action).get(f"/v1/documents/{document}").status_code == 200


def test_an_erased_tenant_leaves_nothing(planted: tuple[House, str], home: Path) -> None:
    house, _ = planted
    there = house.client(Principal("meridian", "m"), *Action)
    house.served.corpus.erase_tenant("default")
    assert places(home, WORD) == []
    assert {one.principal.tenant for one in house.served.keys.every_key()} == {"meridian"}
    assert house.served.audit.entries("default") == []
    assert not (home / "tenants" / "default").exists()
    assert there.post("/v1/search", json={"query": "pump"}).json()["results"]
    assert house.served.corpus.documents() == []
