"""Documents handed over: streamed, read by a job, shown to whom they are allowed to, and gone when deleted."""

from __future__ import annotations

import errno
import io
import time
import zipfile
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from starlette.testclient import TestClient

from fonte.access.identity import Action
from fonte.access.jobs import JobLimits
from fonte.access.uploads import Upload
from fonte.errors import StoreUnavailable
from fonte.http.served import Limits
from fonte.sources import uploaded
from fonte.stores.home import Home
from fonte.types import Principal, sha256_hex
from fonte.working import Worker
from served import NOW, House, make_house

ADA = Principal("default", "ada", frozenset({"staff"}))
BEN = Principal("default", "ben", frozenset({"staff"}))
EVA = Principal("default", "eva", frozenset())
WRITES = (Action.READ, Action.WRITE)


def done(client: TestClient, job: dict[str, Any]) -> dict[str, Any]:
    """A job once it has ended."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        told = client.get(f"/v1/jobs/{job['id']}").json()
        if told["state"] in ("done", "failed"):
            return dict(told)
        time.sleep(0.02)
    raise AssertionError(f"the job did not end: {told}")


def upload(client: TestClient, *files: tuple[str, bytes], **fields: str) -> dict[str, Any]:
    """Files handed over and read."""
    answer = client.post("/v1/documents", files=[("files", one) for one in files], data=fields)
    assert answer.status_code == 202, answer.text
    told = answer.json()
    return {**told, "ended": done(client, told["job"])}


def test_an_upload_is_read_by_a_job_and_answers(house: House) -> None:
    ada = house.client(ADA, *WRITES)
    told = upload(
        ada, ("valve.md", b"# Valve\n\nThe valve of hall nine opens at four bar."), title="Valves", language="en"
    )
    assert told["ended"]["state"] == "done"
    (document,) = told["documents"]
    (read,) = told["ended"]["report"]["documents"]
    assert (read["document_id"], read["document_name"], read["state"]) == (document["document_id"], "valve.md", "ready")
    found = ada.post("/v1/search", json={"query": "valve of hall nine"}).json()["results"][0]
    assert (found["document_name"], found["title"]) == ("valve.md", "Valves")
    assert "hall nine" in ada.get(f"/v1/documents/{document['document_id']}/text").json()["text"]


def test_several_uploads_wait_for_one_sync(house: House) -> None:
    ada = house.client(ADA, *WRITES)
    told = upload(ada, *((f"n{number}.txt", f"Note {number} of the tower.".encode()) for number in range(3)))
    assert [one["state"] for one in told["ended"]["report"]["documents"]] == ["ready"] * 3


def test_the_same_name_replaces_ones_own_document_and_nobody_elses(house: House) -> None:
    ada, ben = house.client(ADA, *WRITES), house.client(BEN, *WRITES)
    first = upload(ada, ("plan.txt", b"The plan of Ada begins in May."))["documents"][0]["document_id"]
    other = upload(ben, ("plan.txt", b"The plan of Ben begins in June."))["documents"][0]["document_id"]
    again = upload(ada, ("plan.txt", b"The plan of Ada begins in July."))["documents"][0]["document_id"]
    assert first == again != other
    assert "July" in ada.get(f"/v1/documents/{first}/text").json()["text"]
    assert "June" in ada.get(f"/v1/documents/{other}/text").json()["text"]


def test_one_may_allow_only_roles_that_one_holds(house: House) -> None:
    ada, eva = house.client(ADA, *WRITES), house.client(EVA, *WRITES)
    refused = eva.post("/v1/documents", files={"files": ("a.txt", b"text")}, data={"allow": "staff"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "not_permitted")
    assert eva.post("/v1/documents", files={"files": ("a.txt", b"x")}, data={"allow": "user:ada"}).status_code == 403
    mine = upload(ada, ("mine.txt", b"The lock of Ada has number five."), allow="user:ada")
    document = mine["documents"][0]["document_id"]
    assert ada.get(f"/v1/documents/{document}").json()["roles"] == ["user:ada"]
    assert eva.get(f"/v1/documents/{document}").status_code == 404
    assert eva.get(f"/v1/jobs/{mine['job']['id']}").status_code == 404
    anybody = house.client(Principal("default", "root"), *Action)
    assert upload(anybody, ("hr.txt", b"For the people of hr only."), allow="hr")["ended"]["state"] == "done"
    assert anybody.get(f"/v1/jobs/{mine['job']['id']}").status_code == 200


def test_rules_by_name_give_no_reader(home: Path) -> None:
    home.mkdir(exist_ok=True)
    (home / "fonte.toml").write_text('[[sources]]\nmatch = "*.txt"\nroles = ["public"]\n', encoding="utf-8")
    house = make_house(home)
    document = upload(house.client(ADA, *WRITES), ("p.txt", b"Only Ada reads this."), allow="user:ada")["documents"][0]
    assert house.client(EVA).get(f"/v1/documents/{document['document_id']}").status_code == 404
    house.served.corpus.close()


@pytest.mark.parametrize(
    "name",
    ["", " ", "..", ".", "a/b.txt", "..\\x.txt", "a\u200bb.txt", "evil\u202etxt.exe", "x" * 256, "e" * 130 + "é" * 70],
)
def test_names_that_cannot_be_shown_are_refused(house: House, name: str) -> None:
    ada = house.client(ADA, *WRITES)
    answer = ada.post("/v1/documents", files=[("files", (name, b"text"))])
    assert answer.status_code == 422, answer.text
    assert not list((house_home(house) / "tenants" / "default").glob("uploads/*"))


def house_home(house: House) -> Path:
    return Path(house.served.corpus.uploads("default").folder).parent.parent.parent  # type: ignore[attr-defined]  # ours


@pytest.mark.parametrize(
    "name", ["ordine n° 7 (bozza).txt", "..hidden.txt", "'; DROP TABLE x; --.txt", "%2e%2e%2f.txt", "表.txt"]
)
def test_other_names_are_data(house: House, name: str) -> None:
    ada = house.client(ADA, *WRITES)
    told = upload(ada, (name, b"The gate of the garden is green."))
    (read,) = told["ended"]["report"]["documents"]
    assert (read["document_name"], read["state"]) == (name, "ready")
    folder = house_home(house) / "tenants" / "default" / "uploads"
    (own,) = folder.iterdir()
    assert sorted(path.name for path in own.iterdir())[1:] == ["about.json"]
    assert all(name not in path.name for path in folder.rglob("*"))


def test_deleted_uploads_do_not_come_back(house: House) -> None:
    ada, runs_it = house.client(ADA, *WRITES), house.client(Principal("default", "root"), *Action)
    document = upload(ada, ("gone.txt", b"The bridge is closed on Monday."))["documents"][0]["document_id"]
    kept = upload(ada, ("kept.txt", b"The bridge is open on Sunday."))["documents"][0]["document_id"]
    assert ada.delete(f"/v1/documents/{document}").status_code == 200
    job = runs_it.post("/v1/sync", json={"sources": ["upload://"]}).json()["job"]
    assert done(runs_it, job)["state"] == "done"
    assert ada.get(f"/v1/documents/{document}").status_code == 404
    assert ada.get(f"/v1/documents/{kept}").status_code == 200
    upload(ada, ("gone.txt", b"The bridge is closed on Tuesday."))
    assert "Tuesday" in ada.get(f"/v1/documents/{document}/text").json()["text"]


def zipped(*files: tuple[str, bytes]) -> bytes:
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files:
            archive.writestr(name, text)
    return body.getvalue()


def test_a_deleted_member_of_an_archive_does_not_come_back(house: House) -> None:
    ada, runs_it = house.client(ADA, *WRITES), house.client(Principal("default", "root"), *Action)
    body = zipped(("one.txt", b"The mill has one wheel."), ("two.txt", b"The barn has two doors."))
    told = upload(ada, ("farm.zip", body), allow="staff")
    read = {one["document_name"]: one for one in told["ended"]["report"]["documents"]}
    assert {"farm.zip!/one.txt", "farm.zip!/two.txt"} <= set(read)
    assert read["farm.zip!/one.txt"]["roles"] == ["staff"]
    ada.delete(f"/v1/documents/{read['farm.zip!/one.txt']['document_id']}")
    done(runs_it, runs_it.post("/v1/sync", json={"sources": ["upload://"]}).json()["job"])
    names = {one["document_name"] for one in ada.get("/v1/documents").json()["documents"]}
    assert "farm.zip!/two.txt" in names
    assert "farm.zip!/one.txt" not in names


@pytest.mark.parametrize(
    ("name", "body", "states"),
    [
        ("empty.txt", b"", {"empty", "failed"}),
        ("picture.bin", bytes(range(256)) * 8, {"failed"}),
        ("broken.pdf", b"%PDF-1.7\nnothing more", {"failed"}),
    ],
)
def test_what_cannot_be_read_says_so(house: House, name: str, body: bytes, states: set[str]) -> None:
    ada = house.client(ADA, *WRITES)
    told = upload(ada, (name, body))
    assert told["ended"]["state"] == "done"
    (read,) = told["ended"]["report"]["documents"]
    assert read["state"] in states
    assert read["reason"]
    assert ada.get(f"/v1/documents/{read['document_id']}").json()["state"] in states


def test_a_bomb_ends_as_a_failed_document(house: House) -> None:
    ada = house.client(ADA, *WRITES)
    told = upload(ada, ("bomb.zip", zipped(("zeros.txt", b"0" * 60_000_000))))
    assert told["ended"]["state"] == "done"
    assert {one["state"] for one in told["ended"]["report"]["documents"]} <= {"failed", "partial", "empty"}


def test_a_full_disk_leaves_no_half_upload(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    ada = house.client(ADA, *WRITES)
    real = uploaded._write

    def full(path: Path, body: Any) -> str:
        if len(list(path.parent.parent.glob(".draft-*"))) > 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(path, body)

    monkeypatch.setattr(uploaded, "_write", full)
    files = [("files", ("a.txt", b"first")), ("files", ("b.txt", b"second"))]
    answer = ada.post("/v1/documents", files=files)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "store_unavailable")
    assert not list((house_home(house) / "tenants" / "default" / "uploads").iterdir())


def test_too_much_and_the_wrong_form_are_refused(home: Path) -> None:
    house = make_house(home, limits=Limits(upload_bytes=2000, upload_files=2))
    ada = house.client(ADA, *WRITES)

    def post(**sent: Any) -> Any:
        return ada.post("/v1/documents", **sent)

    assert post(files={"files": ("a.txt", b"x" * 3000)}).status_code == 413
    assert post(files=[("files", (f"{one}.txt", b"x")) for one in range(3)]).status_code in (400, 422)
    assert post(files={"other": ("a.txt", b"x")}).status_code == 422
    assert post(files={"files": ("a.txt", b"x")}, data={"tenant": "meridian"}).status_code == 422
    assert post(files={"files": ("a.txt", b"x")}, data={"language": "english"}).status_code == 422
    assert post(files=[("files", ("a.txt", b"x")), ("files", ("a.txt", b"y"))]).status_code == 422
    assert post(json={"files": []}).status_code in (400, 415, 422)
    assert post(content=b"--x\r\nbroken", headers={"content-type": "multipart/form-data; boundary=x"}).status_code in (
        400,
        422,
    )
    assert house.client(ADA).post("/v1/documents", files={"files": ("a.txt", b"x")}).status_code == 403
    house.served.corpus.close()


def test_a_full_queue_refuses_and_keeps_nothing(home: Path) -> None:
    house = make_house(home)
    full = Worker(house.served.corpus, Home(home).jobs, JobLimits(waiting=0))
    house = make_house(home, work=full)
    answer = house.client(ADA, *WRITES).post("/v1/documents", files={"files": ("a.txt", b"x")})
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "overloaded")
    assert not list((home / "tenants" / "default").glob("uploads/*"))
    house.served.corpus.close()


def test_tenants_share_no_upload(house: House) -> None:
    there = house.client(Principal("meridian", "ada"), *WRITES)
    document = upload(there, ("t.txt", b"Meridian keeps a lamp."))["documents"][0]["document_id"]
    assert house.client(ADA).get(f"/v1/documents/{document}").status_code == 404
    found = house.client(ADA).post("/v1/search", json={"query": "lamp"}).json()["results"]
    assert document not in {one["document_id"] for one in found}


def test_pages_of_an_upload_are_drawn(house: House) -> None:
    ada = house.client(ADA, *WRITES)
    body = (Path(__file__).parents[1] / "data" / "made" / "report.pdf").read_bytes()
    document = upload(ada, ("report.pdf", body), allow="user:ada")["documents"][0]["document_id"]
    address = f"/v1/documents/{document}/pages/1.png"
    assert ada.get(address).content.startswith(b"\x89PNG")
    assert house.client(EVA).get(address).status_code == 404


def test_one_name_that_comes_several_times_at_once_is_whole(home: Path) -> None:
    store, failed = make_uploads(home), []

    def hand_over(number: int) -> None:
        for again in range(20):
            one = Upload("u" + "0" * 24, "plan.txt", "ada", ("public",), NOW)
            try:
                with store.draft(one, io.BytesIO(f"plan {number} {again}".encode() * 50)) as draft:
                    draft.commit()
            except StoreUnavailable as error:
                failed.append(error)

    threads = [Thread(target=hand_over, args=(number,)) for number in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert failed == []
    ((upload_, path),) = store.scan()
    assert sha256_hex(Path(path).read_bytes()) == upload_.sha256


def make_uploads(home: Path) -> uploaded.Uploads:
    return uploaded.Uploads(home / "uploads", lambda: home.mkdir(exist_ok=True))
