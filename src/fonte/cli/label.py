"""fonte label: answers drawn for people, their verdicts recorded, and what these come to."""

from __future__ import annotations

import argparse
import getpass
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from fonte.answer import now
from fonte.cli.arguments import UsageError
from fonte.cli.opening import corpus, home_of, parts, principal, settings_of
from fonte.cli.output import Output
from fonte.contract import Json
from fonte.corpus import OpenCorpus
from fonte.errors import InputError, NotFound
from fonte.evaluating import tenants_of
from fonte.evaluation.agreement import Agreement
from fonte.evaluation.golden_files import load_golden
from fonte.evaluation.label_report import LabelReport, report_of
from fonte.evaluation.labels import Item, Label, Labels, Verdict, draw, label_line, read_sheet, sheet_row
from fonte.evaluation.statistics import Interval
from fonte.homes import feedback_of, labels_of
from fonte.labelling import LabelFile, golden_items, labels_beside, stored_items
from fonte.types import Principal

_Choice = TypeVar("_Choice")
DEFAULT_COUNT = 20
_SHOWN = 40
_KEYS: Mapping[str, Verdict] = {
    "c": "correct",
    "p": "partly",
    "w": "wrong",
    "s": "should_have_refused",
    "r": "rightly_refused",
}


def label(options: argparse.Namespace, output: Output) -> int:
    """Draw and record, or report."""
    if options.action == "report":
        return _report(options, output)
    if options.feedback and options.golden:
        raise UsageError("--feedback draws stored answers, not those of a golden set", hint="leave one of them out")
    if options.sheet_in and options.sheet_out:
        raise UsageError("--out and --in are two steps", hint="fill in what --out wrote, then name it with --in")
    if options.sheet_in:
        return _record(options, output)
    return _draw(options, output)


def _file(options: argparse.Namespace) -> LabelFile:
    if options.golden:
        return LabelFile(labels_beside(Path(options.golden)))
    return LabelFile(labels_of(home_of(options), options.tenant))


def _labeller(options: argparse.Namespace) -> str:
    try:
        name = (options.by if options.by is not None else getpass.getuser()).strip()
    except (OSError, KeyError, ImportError):
        name = ""
    if not name:
        raise UsageError("whose verdicts are these?", hint="name the labeller with --by NAME")
    return name


# --- drawing ---------------------------------------------------------------------------------------------------------


def _draw(options: argparse.Namespace, output: Output) -> int:
    by, file = _labeller(options), _file(options)
    known = file.read()
    out = Path(options.sheet_out) if options.sheet_out else None
    if out is not None and out.exists():
        raise InputError(f"{out} is there already", hint="name a file that is free: nothing is overwritten")
    items = _golden(options, output) if options.golden else _stored(options)
    sample = draw(items, options.count or DEFAULT_COUNT, options.seed)
    left = [item for item in sample if item.id not in known.by(by)]
    told: Json = {
        "labels": str(file.path),
        "by": by,
        "answers": len({item.id for item in items}),
        "sample": len(sample),
        "left": len(left),
    }
    if not left:
        output.note(f"{by} has judged all {len(sample)} answers of this sample: a larger --count draws more")
    elif out is not None:
        # First what is drawn, then the sheet: a sheet whose answers nobody knows could not be recorded.
        file.draw(left, known)
        _write_sheet(out, left)
        output.note(f"answers in {out}: {len(left)}; fill it in, then name it with --in")
    elif output.json_mode:
        file.draw(left, known)
    else:
        told["recorded"] = _ask(left, known, file, by, output)
        output.line(f"verdicts of {by} recorded: {told['recorded']}, in {file.path}")
    if output.json_mode:
        output.json(told | {"out": str(out) if out else None, "rows": [] if out else [sheet_row(one) for one in left]})
    return 0


def _golden(options: argparse.Namespace, output: Output) -> list[Item]:
    """What the set's questions are answered with, each by its own asker."""
    golden = load_golden(Path(options.golden))
    made, _ = parts(options)
    with OpenCorpus(made) as opened, output.progress() as progress:
        tenants = tenants_of(golden, lambda tenant: opened.asker(Principal(tenant)))
        return golden_items(golden, tenants, made.make_generator(None, made.scorer), progress)


def _stored(options: argparse.Namespace) -> list[Item]:
    asker = principal(options)
    if options.feedback:
        said = feedback_of(home_of(options), settings_of(options), options.tenant)
        with corpus(options) as opened:
            bodies = opened.judged_answers(said, principal=asker)
        if not bodies:
            raise NotFound(
                "nobody said anything of an answer that you may read",
                hint="name your roles with --roles; askers say it on the page, or by POST /v1/feedback",
            )
        return stored_items(bodies, said)
    with corpus(options) as opened:
        bodies = opened.answers(principal=asker)
    if not bodies:
        raise NotFound(
            "no stored answer is this asker's to read",
            hint="name the asker with --user or --roles, ask something, or name a golden set",
        )
    return stored_items(bodies)


def _write_sheet(path: Path, items: Sequence[Item]) -> None:
    body = "".join(json.dumps(sheet_row(item), ensure_ascii=False) + "\n" for item in items)
    try:
        path.write_text(body, encoding="utf-8", newline="\n")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"{path}: cannot be written: {reason}", hint="name another file") from error


# --- at a terminal ---------------------------------------------------------------------------------------------------


class _Stopped(Exception):
    """The person stops here, or the input ended."""


class _LeftOut(Exception):
    """The person leaves this answer out."""


def _ask(items: Sequence[Item], known: Labels, file: LabelFile, by: str, output: Output) -> int:
    """One answer after the other; each verdict is recorded at once. How many were."""
    recorded = 0
    output.line("Enter at a verdict leaves an answer out, q stops; every verdict is kept at once")
    for number, item in enumerate(items, start=1):
        _show(item, f"{number}/{len(items)}", output)
        try:
            given = _verdict(item, by, output)
        except _LeftOut:
            continue
        except _Stopped:
            break
        file.draw([item], known)
        file.append([label_line(given, now())])
        recorded += 1
    return recorded


def _show(item: Item, place: str, output: Output) -> None:
    output.line(f"\n{place}  question: {_flat(item.question)}")
    if item.asker:
        output.line(f"  asked by: {_flat(item.asker)}")
    output.line(f"  {'answer' if item.answered else 'refused'}: {_flat(item.answer)}")
    for index, name, quote in item.citations:
        output.line(f"  {f'[{index}]' if index else 'nearest:'} {_flat(name)}: «{_flat(quote)}»")


def _verdict(item: Item, by: str, output: Output) -> Label:
    keys = {key: verdict for key, verdict in _KEYS.items() if verdict in item.allowed}
    choices = ", ".join(f"{key} {verdict.replace('_', ' ')}" for key, verdict in keys.items())
    verdict = _chosen(f"verdict ({choices}): ", keys, output)
    yes_no = {"y": True, "n": False}
    supported = [
        _chosen(f"  do its sources say «{_flat(text)}»? (y, n): ", yes_no, output) for text, _ in item.sentences
    ]
    done = _chosen("was the asker's task done? (y, n): ", yes_no, output)
    output.piece("note (Enter for none): ")
    note = sys.stdin.readline().strip()
    return Label(item.id, by, verdict, tuple(supported), done, note[:2000])


def _chosen(prompt: str, keys: Mapping[str, _Choice], output: Output) -> _Choice:
    """What one of the keys stands for; asked again until one is given."""
    while True:
        output.piece(prompt)
        line = sys.stdin.readline()
        word = line.strip().casefold()
        if not line or word == "q":
            raise _Stopped
        if word in keys:
            return keys[word]
        if not word:
            raise _LeftOut
        output.line(f"  one of {', '.join(keys)}; Enter leaves this answer out, q stops")


def _flat(text: str) -> str:
    """On one line: what documents say cannot look like one of ours."""
    return " ".join(text.split())


# --- a sheet ---------------------------------------------------------------------------------------------------------


def _record(options: argparse.Namespace, output: Output) -> int:
    """All of a sheet or nothing; 1 where something in it is wrong."""
    by, file = _labeller(options), _file(options)
    known = file.read()
    try:
        text = Path(options.sheet_in).read_text(encoding="utf-8-sig")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"{options.sheet_in}: cannot be read: {reason}", hint="name a filled-in sheet") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{options.sheet_in}: is not UTF-8 text", hint="save it as UTF-8") from error
    found, unfilled, faults = read_sheet(text, known, by)
    fresh = [one for one in found if known.judged.get((one.id, by)) != one]
    if not faults and fresh:
        moment = now()
        file.append([label_line(one, moment) for one in fresh])
    recorded = 0 if faults else len(fresh)
    if output.json_mode:
        output.json(
            {
                "labels": str(file.path),
                "by": by,
                "recorded": recorded,
                "known": len(found) - len(fresh),
                "unfilled": unfilled,
                "faults": [{"line": one.line, "code": one.code, "message": one.message} for one in faults],
            }
        )
        return 1 if faults else 0
    for one in faults[:_SHOWN]:
        output.line(f"fault[{one.code}]: {options.sheet_in}:{one.line}: {one.message}")
    if len(faults) > _SHOWN:
        output.line(f"… and {len(faults) - _SHOWN} more")
    output.line(f"verdicts of {by} recorded: {recorded}; rows not filled in: {unfilled}; faults: {len(faults)}")
    if faults:
        output.note("nothing was recorded: correct the sheet and name it again")
    return 1 if faults else 0


# --- the report ------------------------------------------------------------------------------------------------------


def _report(options: argparse.Namespace, output: Output) -> int:
    if options.sheet_in or options.sheet_out:
        raise UsageError("--in and --out belong to label draw", hint="see fonte label --help")
    file = _file(options)
    try:
        found = report_of(file.read(), options.by)
    except ValueError as error:
        who = f" by {options.by}" if options.by else ""
        raise NotFound(f"nothing was labelled yet{who} in {file.path}", hint="fonte label draw begins") from error
    if output.json_mode:
        output.json({"labels": str(file.path)} | found.as_json())
    else:
        _tell(found, output)
    return 0


def _tell(found: LabelReport, output: Output) -> None:
    who = ", ".join(f"{name} ({number})" for name, number in found.labellers.items())
    output.line(f"{found.right.n} answers labelled of {found.drawn} drawn; by {who}")
    if len(found.generations) > 1:
        output.note(f"they are answers of {len(found.generations)} generations")
    output.line()
    shares: dict[str, Interval] = {name.replace("_", " "): one for name, one in found.shares.items()}
    shares |= {"right, of all": found.right, "task done": found.task_done}
    if found.supported is not None:
        shares["sentences supported"] = found.supported
    shares |= {f"right, of kind {kind}": one for kind, one in found.kinds.items()}
    output.table(("VERDICT", "SHARE", "95 % INTERVAL", "N"), [(name, *_row(one)) for name, one in shares.items()])
    agreed = [("automatic measures", name, one) for name, one in found.automatic.items()]
    agreed += [(f"{a} and {b}", name, one) for (a, b), some in found.between.items() for name, one in some.items()]
    if agreed:
        output.line()
        output.table(
            ("AGREEMENT WITH", "ABOUT", "AGREED", "95 % INTERVAL", "N", "KAPPA", "95 % INTERVAL"),
            [(who, name.replace("_", " "), *_row(one.raw), *_kappa(one)) for who, name, one in agreed],
        )
    if "verdict" in found.automatic:
        _confusion(found.automatic["verdict"], output)


def _confusion(found: Agreement, output: Output) -> None:
    columns = sorted({name for row in found.table.values() for name in row})
    output.line()
    output.table(
        ("PEOPLE SAY", *(f"MEASURES SAY {name.replace('_', ' ')}" for name in columns)),
        [
            (name.replace("_", " "), *(str(row.get(column, 0)) for column in columns))
            for name, row in found.table.items()
        ],
    )


def _row(one: Interval) -> tuple[str, str, str]:
    return f"{one.value:.3f}", f"{one.low:.3f}-{one.high:.3f}", str(one.n)


def _kappa(one: Agreement) -> tuple[str, str]:
    if one.kappa is None:
        return "-", "-"
    known = one.kappa_low is not None and one.kappa_high is not None
    return f"{one.kappa:.2f}", f"{one.kappa_low:.2f} to {one.kappa_high:.2f}" if known else "-"
