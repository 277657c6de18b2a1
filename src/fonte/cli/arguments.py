"""The shape of every command: its arguments, its help, its example. Nothing heavy is imported here."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Sequence
from datetime import date
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import NoReturn

from fonte.errors import ConfigError, InputError

LATER = frozenset("bench".split())
"""Commands of the contract that this version does not have."""
GENERATORS = ("extractive", "openai", "anthropic", "gguf")
DESCRIPTION = "Ask your documents; every sentence of the answer is tied to the place it came from."


_CHOICE = re.compile(r"argument (?P<what>\S+): invalid choice: '(?P<given>[^']*)' \(choose from (?P<known>.*)\)")
"""What argparse says of a value that is none of those that there are."""


class UsageError(InputError):
    """Wrong use of the command line."""

    code = "usage"
    next_step = "see fonte --help"


class Unsaid(str):
    """A default that nobody typed."""

    __slots__ = ()


class _Parser(argparse.ArgumentParser):
    """Wrong use becomes a typed error, so that it looks like every other error."""

    def error(self, message: str) -> NoReturn:
        see = f"see {self.prog} --help"
        if found := _CHOICE.fullmatch(message):
            near = get_close_matches(found["given"], re.findall(r"[\w-]+", found["known"]), n=1)
            if near:
                raise UsageError(f"{found['what']} cannot be {found['given']}", hint=f"did you mean {near[0]}? {see}")
        raise UsageError(message, hint=see)


def not_built(what: str) -> ConfigError:
    """The refusal of a part of the contract that a later version will have."""
    return ConfigError(f"{what} is not built yet in this version", hint="fonte --help tells what is")


def refuse_later(arguments: Sequence[str]) -> None:
    """Raises ConfigError where the command, which is the first argument, is one of a later version."""
    if arguments and arguments[0] in LATER:
        raise not_built(f"fonte {arguments[0]}")


def _run(module: str, function: str) -> Callable[..., int]:
    """The command's function, imported when it is called."""

    def run(*arguments: object) -> int:
        return int(getattr(import_module(f"fonte.cli.{module}"), function)(*arguments))

    return run


def _installed() -> str:
    try:
        return version("fonte")
    except PackageNotFoundError:
        return "not installed"


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for name in (part.strip() for part in text.split(",")) if name)


def _count(text: str) -> int:
    if not text.strip().isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"should be a whole number from 1, not {text}")
    return int(text)


def _cost(text: str) -> float:
    number = float(text)
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"should be a number above 0, not {text}")
    return number


def _distance(text: str) -> float:
    number = float(text)
    if not 0 < number <= 2:  # noqa: PLR2004 - the range of 1 - cosine
        raise argparse.ArgumentTypeError(f"should be above 0 and at most 2, not {text}")
    return number


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"should be a day such as 2026-03-01, not {text}") from None


def _share(text: str) -> float:
    number = float(text)
    if not 0 < number <= 1:
        raise argparse.ArgumentTypeError(f"should be above 0 and at most 1, not {text}")
    return number


def _common() -> _Parser:
    common = _Parser(add_help=False)
    group = common.add_argument_group("common options")
    group.add_argument(
        "--home",
        metavar="DIR",
        default=os.environ.get("FONTE_HOME") or ".fonte",
        help="where the index lives (else FONTE_HOME, else .fonte)",
    )
    group.add_argument("--config", metavar="FILE", help="settings (else fonte.toml in or beside the home)")
    group.add_argument("--tenant", metavar="T", default=Unsaid("default"), help="whose documents (default: default)")
    group.add_argument("--user", metavar="U", help="who asks; holds the role user:U")
    group.add_argument("--roles", metavar="R1,R2", type=_names, default=(), help="roles of the asker beside public")
    group.add_argument("--json", action="store_true", help="one JSON document on stdout")
    group.add_argument("--quiet", action="store_true", help="no progress and no remarks")
    return common


def build_parser() -> argparse.ArgumentParser:
    """The whole command line."""
    parser = _Parser(prog="fonte", description=DESCRIPTION, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"fonte {_installed()}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=_Parser)
    common = _common()

    def command(name: str, about: str, example: str, run: Callable[..., int]) -> argparse.ArgumentParser:
        added = commands.add_parser(
            name,
            help=about,
            description=about[0].upper() + about[1:] + ".",
            epilog=f"example:\n  {example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            parents=[common],
            allow_abbrev=False,
        )
        added.set_defaults(run=run)
        return added

    _add_sync(command)
    _add_asking(command)
    _add_looking(command)
    _add_life(command)
    _add_evaluation(command)
    _add_golden(command)
    _add_lab(command)
    _add_serving(command)
    _add_operation(command)
    return parser


_Command = Callable[[str, str, str, Callable[..., int]], argparse.ArgumentParser]


def _add_serving(command: _Command) -> None:
    serve = command("serve", "answer over HTTP", "fonte serve --port 8080", _run("serving", "serve"))
    mcp = command("mcp", "tools for models, over MCP", "fonte mcp --user ada --roles staff", _run("serving", "mcp"))
    mcp.add_argument("--http", action="store_true", help="over HTTP with keys, rather than standard input and output")
    for one in (serve, mcp):
        one.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help="where to listen (default: 127.0.0.1)")
        one.add_argument("--port", type=_count, default=8080, metavar="N", help="(default: 8080)")
        one.add_argument(
            "--proxy", metavar="A1,A2", type=_names, default=(), help="proxies whose forwarded headers are believed"
        )
    keys = command(
        "keys",
        "keys of people and programs",
        "fonte keys create --user ada --roles staff --actions read,write --days 90\n  fonte keys list",
        _run("serving", "keys"),
    )
    keys.add_argument("action", choices=("create", "list", "revoke", "rotate"), help="what to do")
    keys.add_argument("key", nargs="?", metavar="ID", help="the key that is revoked or rotated")
    keys.add_argument(
        "--actions", metavar="A1,A2", type=_names, default=("read",), help="of read, write, admin (default: read)"
    )
    keys.add_argument("--days", type=_count, metavar="N", help="how long the new key is good (default: for ever)")
    keys.add_argument(
        "--grace-hours", type=_count, default=24, metavar="N", help="how long a rotated key still works (default: 24)"
    )


def _add_operation(command: _Command) -> None:
    erase = command(
        "erase",
        "take documents, a user (--user) or a tenant (--tenant) out of every file, for good",
        "fonte erase old-contract.pdf\n  fonte erase --user ada\n  fonte erase --tenant acme",
        _run("operating", "erase"),
    )
    erase.add_argument(
        "documents", nargs="*", metavar="DOCUMENT", help="ids, names or source URIs; without --user and any, the tenant"
    )
    backup = command(
        "backup",
        "write the home into one file, while a server runs",
        "fonte backup monday.tar.gz",
        _run("operating", "backup"),
    )
    backup.add_argument("file", metavar="FILE", help="a new file")
    restore = command(
        "restore",
        "put a home in place that a backup holds, once every hash was verified",
        "fonte restore monday.tar.gz --home NEW",
        _run("operating", "restore"),
    )
    restore.add_argument("file", metavar="FILE", help="what fonte backup wrote")
    command(
        "migrate",
        "bring the tables of [store] database_url to this version, logged in as their owner",
        "FONTE_DATABASE_URL=postgresql://OWNER@HOST/DATABASE fonte migrate",
        _run("operating", "migrate"),
    )
    export = command(
        "export",
        "write the passages that the asker may read, with their vectors, into a table of a PostgreSQL database",
        "fonte export --to postgresql://ME@HOST/DATABASE --table doc_chunks --roles staff",
        _run("operating", "export"),
    )
    export.add_argument("--to", metavar="URL", required=True, help="the database, as whoever is to own the table")
    export.add_argument("--table", metavar="NAME", default="doc_chunks", help="its name (default: doc_chunks)")
    export.add_argument("--replace", action="store_true", help="instead of what the table holds")
    command("check", "prove that the home is whole; 1 with what is not", "fonte check", _run("operating", "check"))


def _add_sync(command: _Command) -> None:
    sync = command(
        "sync", "bring the index to what the sources hold", "fonte sync handbook/ --allow staff", _run("index", "sync")
    )
    sync.add_argument(
        "sources",
        nargs="+",
        metavar="SOURCE",
        help="a folder, a file, a glob, or an address (https://, s3://, sql:// …)",
    )
    sync.add_argument(
        "--allow",
        metavar="R1,R2",
        type=_names,
        default=("public",),
        help="roles that may read (default: public; empty: nobody)",
    )
    sync.add_argument("--include", metavar="GLOB", action="append", default=[], help="only these files")
    sync.add_argument("--exclude", metavar="GLOB", action="append", default=[], help="not these files")
    sync.add_argument("--records", action="store_true", help="each record of JSON or JSONL is a document")
    sync.add_argument("--no-publish", action="store_true", help="build the candidate and leave it at that")
    sync.add_argument("--watch", action="store_true", help="go on as the sources change, until Ctrl-C")
    sync.add_argument("--workers", metavar="N", type=_count, default=1, help="parser processes (default: 1)")
    retry = command("retry", "parse again what failed or is partial", "fonte retry broken.pdf", _run("index", "retry"))
    retry.add_argument("documents", nargs="*", metavar="DOCUMENT", help="ids, names or source URIs (default: all)")
    retry.add_argument("--workers", metavar="N", type=_count, default=1, help="parser processes (default: 1)")
    delete = command(
        "delete",
        "take documents out of sight at once, everywhere",
        "fonte delete old-policy.md",
        _run("index", "delete"),
    )
    delete.add_argument("documents", nargs="+", metavar="DOCUMENT", help="ids, names or source URIs")


def _add_asking(command: _Command) -> None:
    search = command(
        "search", "ranked passages", 'fonte search "CVE-2024-1234" --k 3 --mode bm25', _run("asking", "search")
    )
    search.add_argument("query", metavar="QUERY")
    search.add_argument("--mode", choices=("hybrid", "bm25", "dense"), help="legs to use (default: hybrid)")
    search.add_argument(
        "--rerank",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="order the shortlist anew by its token vectors (default: where the index has them, but not with bm25)",
    )
    search.add_argument(
        "--filter",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="document=NAME, language=it, type=application/pdf; may be repeated",
    )
    ask = command(
        "ask",
        "an answer with its sources, or an honest refusal",
        'fonte ask "Quanti giorni di ferie ho?" --roles staff',
        _run("asking", "ask"),
    )
    ask.add_argument("query", metavar="QUESTION")
    ask.add_argument(
        "--generator",
        metavar="NAME",
        choices=GENERATORS,
        help="who writes, of " + ", ".join(GENERATORS) + " (default: as set)",
    )
    ask.add_argument("--stream", action="store_true", help="show the answer as it comes")
    ask.add_argument("--conversation", metavar="ID", help="go on with a conversation; new begins one and tells its id")
    ask.add_argument("--fail-on-abstain", action="store_true", help="exit 4 when there is no answer")
    conversation = command(
        "conversation",
        "conversations, or what was asked in one, with its answers as they were given",
        "fonte conversation v0123456789abcdef0123",
        _run("asking", "conversation"),
    )
    conversation.add_argument("conversation", metavar="ID", nargs="?", help="one of them (left out: a list)")
    conversation.add_argument("--delete", action="store_true", help="take it away, with its answers")
    _add_why(command)
    for one in (search, ask):
        one.add_argument("--k", type=_count, metavar="N", help="passages (default: 8)")
        one.add_argument("--max-distance", type=_distance, metavar="D", help="cut on cosine distance, above 0 to 2")
        one.add_argument("--as-of", metavar="DATE", type=_day, help="only documents that hold on this day, YYYY-MM-DD")


def _add_why(command: _Command) -> None:
    why = command(
        "why",
        "the layer that lost what a question should have found",
        'fonte why "Quanti giorni di ferie ho?" --expect "26 giorni" --roles staff',
        _run("why", "why"),
    )
    why.add_argument("query", metavar="QUESTION")
    why.add_argument(
        "--expect",
        required=True,
        metavar="TEXT_OR_LOCATOR",
        help="words, or NAME#char=120,180, NAME#page=3, NAME#sheet=S&range=A2:B9",
    )
    why.add_argument("--document", metavar="DOCUMENT", help="the document that should hold the words")
    why.add_argument(
        "--admin", action="store_true", help="you run the corpus: tell also of documents that the asker may not read"
    )
    why.add_argument("--mode", choices=("hybrid", "bm25", "dense"), help="legs to use (default: hybrid)")
    why.add_argument("--rerank", action=argparse.BooleanOptionalAction, default=None, help="as in search")
    why.add_argument("--k", type=_count, metavar="N", help="passages (default: 8)")
    why.add_argument("--max-distance", type=_distance, metavar="D", help="cut on cosine distance, above 0 to 2")


def _add_looking(command: _Command) -> None:
    show = command(
        "show",
        "canonical text, with a place marked",
        "fonte show policy.md --from 120 --to 512",
        _run("looking", "show"),
    )
    show.add_argument("document", metavar="DOCUMENT", help="an id, a name or a source URI")
    show.add_argument("--from", dest="start", type=int, metavar="N", help="first character, from 0")
    show.add_argument("--to", dest="end", type=int, metavar="N", help="character after the last")
    show.add_argument("--page", type=_count, metavar="N", help="a page, from 1")
    show.add_argument("--ledger", action="store_true", help="what was counted of it from the source to the index")
    command("status", "what is there, what is stale and why", "fonte status", _run("looking", "status"))
    documents = command(
        "documents", "every document and its state", "fonte documents --state failed", _run("looking", "documents")
    )
    documents.add_argument(
        "--state",
        metavar="S",
        choices=("pending", "ready", "partial", "empty", "needs_ocr", "failed", "deleted"),
        help="only this state",
    )
    documents.add_argument("--ledger", action="store_true", help="words, numbers, rows, pages from source to index")
    documents.add_argument("--sample", metavar="N", type=_count, help="a page of N documents for a person to judge")
    documents.add_argument("--seed", type=int, default=0, metavar="S", help="another sample (default: 0)")
    documents.add_argument("--out", metavar="FILE.html", help="where the page of the sample goes")
    command("doctor", "what is installed, what is missing and how to get it", "fonte doctor", _run("looking", "doctor"))


def _add_life(command: _Command) -> None:
    generations = command(
        "generations", "index states, oldest first", "fonte generations", _run("index", "generations")
    )
    generations.add_argument("compared", nargs="*", metavar="diff A B", help="what two of them differ in: B beside A")
    generations.add_argument(
        "--limit", type=int, default=20, metavar="N", help="documents named in each list of a diff (default: 20)"
    )
    publish = command(
        "publish", "make a generation the active one", "fonte publish g0123456789abcdef", _run("index", "publish")
    )
    publish.add_argument("generation", metavar="ID")
    publish.add_argument("--override", metavar="REASON", help="publish in spite of its faults; the reason is kept")
    command("rollback", "go back to the generation before", "fonte rollback", _run("index", "rollback"))


def _add_evaluation(command: _Command) -> None:
    evaluate = command(
        "eval",
        "how well a golden set is found, and answered",
        "fonte eval golden.yaml --report eval.html\n  fonte eval golden.yaml --answers --floors floors.json",
        _run("evaluate", "run"),
    )
    evaluate.add_argument("golden", metavar="GOLDEN", help="golden.yaml, or a folder in BEIR layout")
    evaluate.add_argument("--k", type=_count, metavar="N", help="places of the longest list (default: 10)")
    evaluate.add_argument("--mode", choices=("hybrid", "bm25", "dense"), help="legs to use (default: as set)")
    evaluate.add_argument(
        "--rerank", action=argparse.BooleanOptionalAction, default=None, help="as search (default: as set)"
    )
    evaluate.add_argument("--answers", action="store_true", help="ask for whole answers and judge them too")
    evaluate.add_argument("--retrieval-only", action="store_true", help="leave the gate out, which takes most time")
    evaluate.add_argument("--floors", metavar="FILE", help="exit 1 where a figure lies below its floor")
    evaluate.add_argument("--save-floors", metavar="FILE", help="write what was measured as floors")
    evaluate.add_argument("--run", dest="trec", metavar="FILE", help="write the rankings as a TREC run")
    compare = command(
        "compare",
        "two configurations or runs on a golden set, judged in pairs; or an experiment",
        "fonte compare golden.yaml --a blind.toml --b fonte.toml\n  fonte compare experiment.toml",
        _run("compare", "run"),
    )
    compare.add_argument("golden", metavar="GOLDEN", help="a golden set, or the .toml file of an experiment")
    compare.add_argument("--a", metavar="FILE", help="what is compared with: settings (.toml) or a TREC run")
    compare.add_argument("--b", metavar="FILE", help="what is judged: settings (.toml) or a TREC run")
    compare.add_argument(
        "--difference", type=_share, metavar="D", help="the smallest difference worth knowing (default: 0.05)"
    )
    for one in (evaluate, compare):
        one.add_argument("--report", metavar="FILE.html", help="write a page with plots (needs fonte[report])")


def _add_golden(command: _Command) -> None:
    golden = command(
        "golden",
        "check a golden set, import one, or propose questions for one",
        "fonte golden check golden.yaml\n  fonte golden import dev-v2.0.json --format squad --language en --out squad",
        _run("golden", "golden"),
    )
    golden.add_argument("action", choices=("check", "import", "propose"), help="what to do")
    golden.add_argument(
        "file", metavar="FILE", help="golden.yaml, a folder in BEIR layout, SQuAD's JSON or TREC topics"
    )
    golden.add_argument("--format", choices=("beir", "squad", "trec"), help="what is imported (else as it looks)")
    golden.add_argument("--qrels", metavar="FILE", help="judgments of TREC topics")
    golden.add_argument("--split", metavar="NAME", help="judgments in the folder qrels/ (default: test)")
    golden.add_argument("--language", metavar="L", help="language of the imported questions, as en or it")
    golden.add_argument("--count", type=_count, metavar="N", help="questions to propose (default: 20)")
    golden.add_argument("--out", metavar="PLACE", help="where the import goes: a new folder, or a new .yaml file")
    label = command(
        "label",
        "verdicts of people on sampled answers: draw and record them, report what they come to",
        "fonte label draw golden.yaml --count 30 --by anna\n  fonte label report golden.yaml",
        _run("label", "label"),
    )
    label.add_argument("action", choices=("draw", "report"), help="what to do")
    label.add_argument(
        "golden", metavar="GOLDEN", nargs="?", help="a golden set (left out: the asker's stored answers)"
    )
    label.add_argument("--count", type=_count, metavar="N", help="answers in the sample (default: 20)")
    label.add_argument("--seed", type=int, default=0, metavar="N", help="another sample (default: 0)")
    label.add_argument("--by", metavar="NAME", help="who judges (default: your user name); in a report: only theirs")
    label.add_argument("--feedback", action="store_true", help="draw answers of all askers that they said something of")
    label.add_argument("--out", dest="sheet_out", metavar="FILE", help="write the sample as a sheet to fill in")
    label.add_argument("--in", dest="sheet_in", metavar="FILE", help="record a sheet that was filled in")
    calibrate = command(
        "calibrate",
        "fit the gate to your own questions, with and without an answer",
        "fonte calibrate golden.yaml --cost-wrong 3 --cost-abstain 1",
        _run("calibrate", "calibrate"),
    )
    calibrate.add_argument("file", metavar="GOLDEN", help="golden.yaml, or a folder in BEIR layout")
    calibrate.add_argument("--cost-wrong", metavar="X", type=_cost, help="of answering what nothing answers")
    calibrate.add_argument("--cost-abstain", metavar="Y", type=_cost, help="of refusing what could be answered")
    calibrate.add_argument("--report", metavar="FILE.html", help="write a page with plots")


def _add_lab(command: _Command) -> None:
    lab = command(
        "lab",
        "the laboratory: fifty documents, sixty questions, every layer measured, life with an index simulated",
        "fonte lab --out fonte-lab",
        _run("lab", "lab"),
    )
    lab.add_argument("--out", metavar="DIR", default="fonte-lab", help="where all of it goes (default: fonte-lab)")
