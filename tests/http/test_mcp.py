"""The tools, driven by the SDK's own client: over HTTP with a key each, and over standard input and output."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from fonte.access.identity import Action
from fonte.access.keys import mint
from fonte.http.app import create_app
from fonte.http.served import Limits
from fonte.stores.home import Home
from fonte.types import Principal
from running import listening
from served import House, make_house

ADA = Principal("default", "ada", frozenset())
HR = Principal("default", "eva", frozenset({"hr"}))
OTHER = Principal("meridian", "ada", frozenset({"hr"}))
QUESTION = "At how many bar does the pump of the north tower run?"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[House, str]]:
    house = make_house(tmp_path_factory.mktemp("mcp") / "home", limits=Limits(concurrent=2))
    with listening(house.app) as address:
        yield house, address
    house.served.corpus.close()


class Asker:
    """A client with a key."""

    def __init__(self, site: tuple[House, str], principal: Principal, mode: str = "auto") -> None:
        house, self.address = site
        key = mint(house.served.keys, principal, [Action.READ], now=house.served.now()).text
        self.http = httpx2.AsyncClient(headers={"authorization": f"Bearer {key}"})
        self.client = Client(streamable_http_client(f"{self.address}/mcp", http_client=self.http), mode=mode)

    async def __aenter__(self) -> Client:
        return await self.client.__aenter__()

    async def __aexit__(self, *fault: object) -> None:
        await self.client.__aexit__(*fault)
        await self.http.aclose()


async def told(client: Client, tool: str, **arguments: Any) -> Any:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    if tool != "ask":
        assert json.loads(result.content[0].text) == result.structured_content
    return result.structured_content


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_search_and_fetch_have_the_form_of_research_clients(site: tuple[House, str], mode: str) -> None:
    async def run() -> None:
        async with Asker(site, ADA, mode) as client:
            assert {one.name for one in (await client.list_tools()).tools} == {
                "search", "fetch", "ask", "list_documents",
            }  # fmt: skip
            found = (await told(client, "search", query="pump", k=5))["results"]
            assert found
            for one in found:
                assert {"id", "title", "url", "text", "locator"} <= set(one)
                assert one["url"].startswith(f"{site[1]}/documents/{one['document_id']}?from=")
                fetched = await told(client, "fetch", id=one["id"])
                assert set(fetched) == {"id", "title", "text", "url", "metadata"}
                assert (fetched["id"], fetched["text"]) == (one["id"], one["text"])
                assert fetched["metadata"]["locator"] == one["locator"]
                whole = await told(client, "fetch", id=one["document_id"])
                place = one["locator"]
                assert whole["text"][place["from"] : place["to"]] == one["text"]

    asyncio.run(run())


def test_an_answer_is_the_one_of_the_api(site: tuple[House, str]) -> None:
    async def run() -> None:
        async with Asker(site, ADA) as client:
            result = await client.call_tool("ask", {"question": QUESTION})
            answer = result.structured_content
            assert answer["answered"]
            words = result.content[0].text
            assert words.startswith(answer["answer"])
            assert f"[1] {answer['citations'][0]['label']} {site[1]}/documents/" in words
        expected = site[0].client(ADA).post("/v1/ask", json={"question": QUESTION}).json()
        assert answer["citations"] == expected["citations"]

    asyncio.run(run())


def test_two_at_once_never_see_each_others_documents(site: tuple[House, str]) -> None:
    people = {"ada": (ADA, {"pump.txt", "ada.txt"}), "hr": (HR, {"pump.txt", "salaries.txt"})}
    people["other"] = OTHER, {"pump.txt", "ada.txt", "salaries.txt"}

    async def one(name: str) -> None:
        principal, allowed = people[name]
        async with Asker(site, principal) as client:
            for _ in range(4):
                listed = (await told(client, "list_documents"))["documents"]
                assert {one["title"] for one in listed} == allowed
                found = (await told(client, "search", query="pump key salary director tower", k=50))["results"]
                assert {one["document_name"] for one in found} == allowed
                assert all(("Meridian" in one["text"]) == (name == "other") for one in found)
                resources = (await client.list_resources()).resources
                assert {one.name for one in resources} == allowed
                text = (await client.read_resource(resources[0].uri)).contents[0].text
                assert ("Meridian" in text) == (name == "other")

    async def run() -> None:
        await asyncio.gather(*(one(name) for name in people))

    asyncio.run(run())


def test_absent_and_forbidden_are_the_same(site: tuple[House, str]) -> None:
    hidden = next(one for one in site[0].served.corpus.documents() if one.name == "salaries.txt").document_id
    unknown = hidden[:-4] + "0000"

    async def run() -> None:
        async with Asker(site, HR) as client:
            (seen,) = [
                one["id"]
                for one in (await told(client, "search", query="salary of the director", k=50))["results"]
                if one["document_id"] == hidden
            ]
        async with Asker(site, ADA) as client:
            for forbidden, absent in ((hidden, unknown), (seen, seen[:-4] + "0000"), (f"{hidden}#char=0,5", "")):
                one = await client.call_tool("fetch", {"id": forbidden})
                assert one.is_error
                assert one.structured_content is None
                assert json.loads(one.content[0].text)["error"]["code"] == "not_found"
                if absent:
                    two = await client.call_tool("fetch", {"id": absent})
                    assert one.content[0].text.replace(forbidden, "") == two.content[0].text.replace(absent, "")
            faults = []
            for name in (hidden, unknown):
                with pytest.raises(MCPError) as refused:
                    await client.read_resource(f"fonte://documents/{name}")
                faults.append((refused.value.code, refused.value.message.replace(name, "")))
            assert faults[0] == faults[1]

    asyncio.run(run())


def test_what_was_done_stands_in_the_log(site: tuple[House, str]) -> None:
    async def run() -> None:
        async with Asker(site, ADA) as client:
            await told(client, "search", query="pump")
            await client.call_tool("fetch", {"id": "salaries.txt"})
            await client.call_tool("search", {"query": "x", "tenant": "meridian"})

    asyncio.run(run())
    entries = [one for _, one in site[0].served.audit.entries("default", limit=20)]
    noted = [(one.user, one.action, one.subject, one.outcome, bool(one.shown)) for one in entries]
    assert ("ada", "MCP search", "pump", "ok", True) in noted
    assert ("ada", "MCP fetch", "salaries.txt", "not_found", False) in noted
    assert ("ada", "POST /mcp", "", "ok", False) in noted


def test_without_a_key_nobody_is_heard(site: tuple[House, str]) -> None:
    house = site[0]
    key = house.client(ADA)
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    accept = {"accept": "application/json, text/event-stream"}
    assert key.post("/mcp", json=asked, headers=accept).status_code == 200
    assert house.client().post("/mcp", json=asked, headers=accept).status_code == 401
    assert key.post("/mcp", json=asked, headers=accept | {"origin": "http://evil.example"}).status_code == 403
    assert key.get("/mcp").status_code == 405


def test_a_fault_of_ours_tells_nothing_of_it(site: tuple[House, str], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_args: object, **_kwargs: object) -> None:
        raise RuntimeError("secret inside")

    monkeypatch.setattr(site[0].served.corpus, "search", broken)

    async def run() -> None:
        async with Asker(site, ADA) as client:
            with pytest.raises(MCPError) as fault:
                await client.call_tool("search", {"query": "pump"})
            assert "secret" not in str(fault.value)

    asyncio.run(run())


def test_a_server_of_tools_alone_has_no_other_route(site: tuple[House, str]) -> None:
    alone = House(site[0].served, create_app(site[0].served, only_tools=True))
    client = alone.client(ADA)
    assert client.get("/v1/documents").status_code == 404
    assert client.get("/healthz").status_code == 200
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    sent = client.post("/mcp", json=asked, headers={"accept": "application/json, text/event-stream"})
    assert len(sent.json()["result"]["tools"]) == 4


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home of the real program with two documents."""
    place = tmp_path_factory.mktemp("stdio")
    for name, text in (("pump.md", "The pump runs at seven bar.\n"), ("pay.md", "The director earns ninety euro.\n")):
        (place / name).write_text(f"# Notes\n\n{text}")
    for name, roles in (("pump.md", "public"), ("pay.md", "hr")):
        fonte(place, "sync", str(place / name), "--allow", roles)
    return place


def fonte(place: Path, *arguments: str) -> None:
    command = [sys.executable, "-m", "fonte", *arguments, "--home", str(place / "home"), "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_over_stdio_the_caller_is_fixed_at_the_start(shelf: Path) -> None:
    arguments = ["-m", "fonte", "mcp", "--home", str(shelf / "home"), "--user", "ada"]
    started = StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))

    async def run() -> None:
        async with Client(started) as client:
            listed = (await told(client, "list_documents"))["documents"]
            assert [one["title"] for one in listed] == ["pump.md"]
            found = (await told(client, "search", query="pump"))["results"]
            assert found[0]["url"] == f"fonte://documents/{found[0]['document_id']}"
            text = (await client.read_resource(found[0]["url"])).contents[0].text
            assert "seven bar" in text
            assert (await client.call_tool("fetch", {"id": "pay.md"})).is_error

    asyncio.run(run())
    entries = [(one.identity, one.user, one.action) for _, one in Home(shelf / "home").audit().entries("default")]
    assert ("stdio", "ada", "MCP search") in entries


def test_over_stdio_nothing_is_written_but_the_protocol(shelf: Path) -> None:
    first = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    sent = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": first},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "search", "arguments": {"query": "x"}}},
        {"jsonrpc": "2.0", "id": 3, "method": "no/such", "params": {}},
    ]
    command = [sys.executable, "-m", "fonte", "mcp", "--home", str(shelf / "home")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("".join(json.dumps(one) + "\n" for one in sent))
        process.stdin.flush()
        lines = [json.loads(process.stdout.readline()) for _ in range(3)]
        process.stdin.close()
        assert process.stdout.read() == ""
        assert process.wait(60) == 0
    assert sorted(one["id"] for one in lines) == [1, 2, 3]
    assert all(one["jsonrpc"] == "2.0" for one in lines)
