"""fonte beside its peers: the same documents, questions and vectors, one process for each peer, one after the other.

    bench/peers/install.sh ENVIRONMENTS                       # an environment for each peer, about 6 GB
    .venv/bin/python bench/peers/compare.py ENVIRONMENTS speed --chunks 1000 10000
    .venv/bin/python bench/peers/compare.py ENVIRONMENTS ranking spans offsets nasty refusal
    .venv/bin/python bench/peers/page.py                      # docs/peers.md out of bench/results/peers-*.json

`--chunks 100000` is asked for by itself; `--peers` takes some; `--work` keeps inputs and raw results (texts of the
sets, never to be committed). Vectors are made once by fonte's default encoder; for made-up texts, by `scale_texts.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import inputs
import score
from common import DATA, ROOT, machine, slowdown, vocabularies
from scale_texts import World
from work import DIMENSIONS

from fonte.config import load_settings
from fonte.models.cards import E5_SMALL, E5_WEIGHTS
from fonte.models.e5_file import read_vocabulary
from fonte.models.files import locate, read_verified
from fonte.models.tokens import unigram_tokenizer
from fonte.wiring import make_parts

HERE = Path(__file__).resolve().parent
RESULTS = ROOT / "bench" / "results"
PEERS = ("fonte", "haiku", "txtai", "haystack", "llamaindex", "langchain", "paperqa")
FORMATS = ("txt", "md", "pdf", "docx", "html")
SECONDS, STUCK_SECONDS = 7200, 900
REFUSAL = 150
ROUNDS = 3
"""Times that a task is run again because texts had no vectors yet."""
KINDS = ("speed", "ranking", "spans", "offsets", "nasty", "refusal")
Json = dict[str, Any]


@dataclass
class Bench:
    """Where things are, and what makes vectors."""

    environments: Path
    work: Path
    peers: Sequence[str]
    command: str
    before: Json = field(default_factory=machine)
    reuse: bool = False
    _maker: inputs.Maker | None = None
    _world: World | None = None

    def python(self, peer: str) -> str:
        """The interpreter of a peer; fonte's own, and the stand-in's, is the one that runs this."""
        name = peer.partition("-")[0]
        own = self.environments / name / "bin" / "python"
        if name in ("fonte", "standin"):
            return sys.executable
        if not own.is_file():
            raise SystemExit(f"no environment for {name} in {self.environments}: bench/peers/install.sh makes them")
        return str(own)

    def once(self, peer: str, task: Path, seconds: float = SECONDS) -> tuple[int | None, Json | None]:
        """One process: its status (None: it took too long), and what it told."""
        out = self.work / "raw" / f"{task.name}.{peer}.json"
        out.parent.mkdir(exist_ok=True)
        out.unlink(missing_ok=True)
        command = [self.python(peer), str(HERE / "work.py"), peer, str(task), str(out)]
        paths = os.pathsep.join([str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])
        own = {"PYTHONPATH": paths} if peer.startswith("fonte") else {}
        quiet = {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "HAYSTACK_TELEMETRY_ENABLED": "False"}
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | quiet | own
        try:
            done = subprocess.run(  # noqa: S603 - this bench's own script
                command,
                env=environment,
                stderr=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None, None
        if not out.is_file():
            print(done.stderr.decode("utf-8", "replace")[-1500:], file=sys.stderr)
            return done.returncode, None
        told: Json = json.loads(out.read_text("utf-8"))
        return done.returncode, told

    def done(self, peer: str, task: Path, fill: Callable[[list[str]], None] | None) -> Json:
        """A task whose every text has its vector; {"failed": …} where the peer cannot do it."""
        kept = self.work / "raw" / f"{task.name}.{peer}.json"
        if self.reuse and kept.is_file():
            again: Json = json.loads(kept.read_text("utf-8"))
            if fill is None or not again["missing"]:
                return again
        for _ in range(ROUNDS + 1):
            noise = {"slowdown_before": slowdown(), "load": round(os.getloadavg()[0], 2)}
            code, told = self.once(peer, task)
            if told is None:
                return {"failed": "too long" if code is None else f"ended with {code}"}
            missing = self.work / "raw" / f"{task.name}.{peer}.missing.jsonl"
            texts = [json.loads(line) for line in missing.read_text("utf-8").splitlines()]
            if not texts or fill is None:
                print(f"{peer} {task.name}", file=sys.stderr, flush=True)
                return told | noise
            fill(texts)
        raise SystemExit(f"{peer} asks for other texts each time")

    def by_model(self, file: Path) -> Callable[[list[str]], None]:
        """Makes vectors by the default encoder."""
        if self._maker is None:
            home = self.work / "home"
            self._maker = inputs.Maker(make_parts(home, load_settings(None, home, {})).make_embedder())
        maker = self._maker
        return lambda texts: maker.make(file, texts)

    def by_words(self, file: Path) -> Callable[[list[str]], None]:
        """Makes vectors out of words."""
        self._world = self._world or World(vocabularies()[0], DIMENSIONS)
        world = self._world
        return lambda texts: inputs.keep(file, texts, world.vectors([one.partition(": ")[2] for one in texts]))

    def write(self, name: str, figures: Json) -> None:
        """Into bench/results, beside what is known of other peers from the same file."""
        path = RESULTS / f"peers-{name}.json"
        kept = json.loads(path.read_text("utf-8")) if path.is_file() else {"peers": {}}
        told = {"command": self.command, "before": self.before, "after": machine(), **figures}
        told["peers"] = {**kept["peers"], **figures["peers"]}
        path.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def speed(bench: Bench, chunks: int) -> None:
    """Ingest, search, rights, update, memory; fonte with and without its reranking."""
    folder = inputs.speed(bench.work / f"speed-{chunks}", chunks)
    task = json.loads((folder / "task.json").read_text("utf-8"))
    fill = bench.by_words(folder / inputs.SHARED_VECTORS)
    peers = [*bench.peers, *(["fonte-fused"] if "fonte" in bench.peers else [])]
    for peer in peers:  # written one by one: a run that is broken off keeps what it has
        told = {peer: bench.done(peer, folder, fill)}
        bench.write(f"speed-{chunks}", {"chunks": chunks, "questions": len(task["questions"]), "peers": told})


def ranking(bench: Bench, names: Sequence[str], cuts: Sequence[str], some: int | None) -> None:
    """Public sets through given chunks and through each peer's own."""
    fill = bench.by_model(bench.work / inputs.SHARED_VECTORS)
    for name in names:
        qrels = score.qrels_of(DATA / name / "qrels.tsv")
        same: Json = {}
        for kind in cuts:
            given = kind == "given"
            folder = inputs.ranking(bench.work / f"{name}-{kind}", name, given=given, some=some)
            told = {}
            for peer in bench.peers:
                if peer == "fonte" and same:
                    told[peer] = same  # it is given records either way
                    continue
                found = settled(bench, peer, folder, fill)
                told[peer] = found | ({"measures": score.judged(found.pop("run"), qrels)} if "run" in found else {})
            same = told.get("fonte", {})
            bench.write(f"ranking-{name}-{kind}", {"set": name, "peers": told})


def settled(bench: Bench, peer: str, folder: Path, fill: Callable[[list[str]], None]) -> Json:
    """A ranking; for haiku.rag with a tokenizer that is at hand."""
    path = folder / "task.json"
    task = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(task | {"tokenizer": str(tokenizer(bench))}, ensure_ascii=False), encoding="utf-8")
    return bench.done(peer, folder, fill)


def tokenizer(bench: Bench) -> Path:
    """The default encoder's tokenizer as a folder that transformers can read."""
    folder = bench.work / "tokenizer"
    if not folder.is_dir():
        folder.mkdir(parents=True)
        path, file = locate((E5_WEIGHTS,), E5_SMALL.name)
        data = read_verified(path, file.sha256, E5_SMALL.name, file.install)
        unigram_tokenizer(read_vocabulary(data)).save(str(folder / "tokenizer.json"))
        facts = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 512}
        (folder / "tokenizer_config.json").write_text(json.dumps(facts), encoding="utf-8")
    return folder


def spans(bench: Bench) -> None:
    """Characters of long texts at an equal budget, each peer's own cutting."""
    name = inputs.SPANS
    folder = inputs.ranking(bench.work / f"{name}-own", name, given=False, some=None)
    texts = {one["_id"]: one["text"] for one in score.lines_of(DATA / name / "corpus.jsonl")}
    gold: dict[str, list[Json]] = {}
    for one in score.lines_of(DATA / name / "spans.jsonl"):
        gold.setdefault(one["query_id"], []).append(one)
    fill, told = bench.by_model(bench.work / inputs.SHARED_VECTORS), {}
    for peer in bench.peers:
        found = settled(bench, peer, folder, fill)
        told[peer] = found | ({"measures": score.spans(found.pop("run"), texts, gold)} if "run" in found else {})
    bench.write("spans", {"set": name, "budgets": score.BUDGETS, "peers": told})


def offsets(bench: Bench, formats: Sequence[str]) -> None:
    """Whether chunks tell where they stand, format by format."""
    told: dict[str, Json] = {peer: {} for peer in bench.peers}
    for suffix in formats:
        folder = inputs.offsets(bench.work / f"offsets-{suffix}", suffix)
        for peer in bench.peers:
            found = settled(bench, peer, folder, lambda _: None) if peer == "haiku" else bench.done(peer, folder, None)
            kept = {name: found[name] for name in ("versions", "options") if name in found}
            told[peer] |= kept
            figures = score.offsets(found["files"], folder) if "files" in found else found
            told[peer].setdefault("formats", {})[suffix] = figures
    bench.write("offsets", {"peers": told})


def nasty(bench: Bench) -> None:
    """Ten damaged or hostile files, a process for each."""
    told: dict[str, Json] = {peer: {"files": {}} for peer in bench.peers}
    for name in inputs.NASTY:
        folder = inputs.nasty(bench.work / f"nasty-{Path(name).name}", name)
        for peer in bench.peers:
            task = json.loads((folder / "task.json").read_text("utf-8")) | {"tokenizer": str(tokenizer(bench))}
            (folder / "task.json").write_text(json.dumps(task), encoding="utf-8")
            code, found = bench.once(peer, folder, STUCK_SECONDS)
            end, reason = score.ended(code, found)
            memory = found["peak_mb"] if found else None
            told[peer]["files"][Path(name).name] = {"end": end, "reason": reason, "peak_mb": memory}
            if found:
                told[peer] |= {"versions": found["versions"]}
            print(f"{peer} {folder.name}: {end} {reason}", file=sys.stderr, flush=True)
    bench.write("nasty", {"processor_seconds": inputs.NASTY_SECONDS, "limit_mb": inputs.NASTY_MB, "peers": told})


def refusal(bench: Bench) -> None:
    """Questions that nothing answers."""
    folder = inputs.refusal(bench.work / "refusal", REFUSAL)
    asked = json.loads((folder / "task.json").read_text("utf-8"))["questions"]
    told = {}
    for peer in bench.peers:
        found = bench.done(peer, folder, None)
        if "answered" in found:
            found["measures"] = score.refused(found.pop("answered"), asked)
        told[peer] = found
    bench.write("refusal", {"set": "squad2-adversarial", "peers": told})


def main() -> int:
    """Measure what was asked for; a JSON file for each kind."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("environments", type=Path, help="where install.sh put them")
    options.add_argument("kinds", nargs="+", choices=KINDS)
    options.add_argument("--chunks", type=int, nargs="+", default=[1000, 10_000], help="sizes for speed")
    options.add_argument("--peers", nargs="+", choices=PEERS, default=list(PEERS))
    options.add_argument("--sets", nargs="+", choices=inputs.RANKED, default=list(inputs.RANKED), help="for ranking")
    options.add_argument("--cuts", nargs="+", choices=("given", "own"), default=["given", "own"], help="for ranking")
    options.add_argument("--formats", nargs="+", choices=FORMATS, default=list(FORMATS), help="for offsets")
    options.add_argument("--questions", type=int, help="of each ranked set so many, in steps (default: all)")
    options.add_argument("--work", type=Path, help="keep inputs and raw results here (default: nowhere)")
    options.add_argument("--reuse", action="store_true", help="do not run again what WORK has a whole result of")
    wanted = options.parse_args()
    said = ["ENVIRONMENTS" if one == str(wanted.environments) else one for one in sys.argv[1:]]
    if wanted.work is not None:
        said[said.index(str(wanted.work))] = "WORK"
    with tempfile.TemporaryDirectory(prefix="peers-") as place:
        work = (wanted.work or Path(place)).absolute()
        work.mkdir(parents=True, exist_ok=True)
        command = " ".join(["bench/peers/compare.py", *said])
        bench = Bench(wanted.environments.absolute(), work, wanted.peers, command, reuse=wanted.reuse)
        for kind in wanted.kinds:
            if kind == "speed":
                for chunks in wanted.chunks:
                    speed(bench, chunks)
            elif kind == "ranking":
                ranking(bench, wanted.sets, wanted.cuts, wanted.questions)
            elif kind == "offsets":
                offsets(bench, wanted.formats)
            else:
                {"spans": spans, "nasty": nasty, "refusal": refusal}[kind](bench)
    return 0


if __name__ == "__main__":
    sys.exit(main())
