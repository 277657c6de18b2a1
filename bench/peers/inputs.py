"""What every peer is given: documents, questions, vectors, as files that need nothing of fonte to be read."""

from __future__ import annotations

import json
import random
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common import DATA, vocabularies
from scale_texts import World
from work import DIMENSIONS, key

from fonte.protocols import Embedder

ROLES = {"staff": 0.6, "hr": 0.3, "board": 0.095, "audit": 0.005}
"""Of the documents, by the one role that may read each; of the rarest there is one at least."""
QUESTIONS = 200
RANKED = ("xquad-en", "squad-it", "cross-it-en")
SPANS = "chroma-chunking"
EACH = 8
"""Files of a format whose offsets are looked at."""
LARGEST = 1 << 20
MADE = ("report.pdf", "two_column.pdf", "multilingual.pdf", "tricky.docx")
"""Files with known text beside those of docs-formats."""
NASTY = (
    "nasty/zero.pdf",
    "nasty/truncated_half.pdf",
    "nasty/password_user.pdf",
    "nasty/page_tree_cycle.pdf",
    "nasty/flate_bomb_90MB.pdf",
    "nasty/deep_array.pdf",
    "nasty_other/trunc.docx",
    "nasty_other/zipbomb_600MB.docx",
    "nasty_other/billion_laughs.docx",
    "nasty_other/deep_div.html",
)
NASTY_MB, NASTY_SECONDS = 8192, 60
"""Address space and processor time that a process may take for one of them."""
OLD_MARK, NEW_MARK = "zyxommatid", "quadrivexol"
SHARED_VECTORS = "vectors.npz"


def put(folder: Path, task: dict[str, Any], documents: Iterable[dict[str, object]] = ()) -> Path:
    """A task's folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "task.json").write_text(json.dumps(task, ensure_ascii=False), encoding="utf-8")
    with (folder / "documents.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(one, ensure_ascii=False) + "\n" for one in documents)
    return folder


def keep(file: Path, texts: Sequence[str], rows: np.ndarray) -> None:
    """Vectors by what is put before their texts, beside those that are there."""
    keys = np.array([np.frombuffer(key(text), np.uint8) for text in texts], np.uint8).reshape(-1, 16)
    if file.is_file():
        with np.load(file) as kept:
            keys, rows = np.concatenate([kept["keys"], keys]), np.concatenate([kept["rows"], rows])
    np.savez(file, keys=keys, rows=np.asarray(rows, np.float32))


def speed(folder: Path, chunks: int) -> Path:
    """Documents of twenty made-up chunks, questions out of some, one document changed. Vectors out of the words."""
    world = World(vocabularies()[0], DIMENSIONS)
    chance = random.Random(3)  # noqa: S311 - made-up
    made: list[dict[str, Any]] = []
    count = max(1, chunks // 20)
    roles = [role for role, share in ROLES.items() for _ in range(max(1, round(share * count)))]
    for one in world.documents(count):
        role = roles[(one.number * 7919) % len(roles)]
        made.append({"id": f"d{one.number}", "text": "\n\n".join(one.chunks), "role": role, "chunks": list(one.chunks)})
    asked_of = [made[number * len(made) // QUESTIONS]["chunks"] for number in range(QUESTIONS)]
    questions = [world.question(chance, chance.choice(texts)) for texts in asked_of]
    target = made[len(made) // 2]
    first, *rest = target["chunks"]
    target["chunks"] = [f"{OLD_MARK} {first}", *rest]
    target["text"] = "\n\n".join(target["chunks"])
    new = [f"{NEW_MARK} {first}", *[f"{one} Updated." for one in rest]]
    changed = target | {"chunks": new, "text": "\n\n".join(new)}
    task = {"kind": "speed", "questions": questions, "roles": list(ROLES), "changed": changed}
    task |= {"old_mark": OLD_MARK, "new_mark": NEW_MARK, "vectors": [SHARED_VECTORS]}
    put(folder, task, made)
    passages = [text for one in [*made, changed] for text in one["chunks"]]
    asked = [*questions, OLD_MARK, NEW_MARK, "ready"]
    texts = [f"passage: {text}" for text in passages] + [f"query: {text}" for text in asked]
    (folder / SHARED_VECTORS).unlink(missing_ok=True)
    keep(folder / SHARED_VECTORS, texts, world.vectors([*passages, *asked]))
    return folder


def ranking(folder: Path, name: str, *, given: bool, some: int | None) -> Path:
    """A public set; with ``given`` each of its documents is one chunk. ``some``: so many questions, in steps."""
    source = DATA / name
    corpus = [json.loads(line) for line in (source / "corpus.jsonl").read_text("utf-8").splitlines()]
    queries = [json.loads(line) for line in (source / "queries.jsonl").read_text("utf-8").splitlines()]
    if some is not None and some < len(queries):
        queries = queries[:: len(queries) // some][:some]
    asked = [{"id": one["_id"], "text": one["text"]} for one in queries]
    task = {"kind": "ranking", "set": name, "given": given, "questions": asked, "k": 20, "texts": name == SPANS}
    documents = [{"id": one["_id"], "text": one["text"], "chunks": [one["text"]]} for one in corpus]
    return put(folder, task | {"vectors": [f"../{SHARED_VECTORS}"]}, documents)


def refusal(folder: Path, some: int) -> Path:
    """Of squad2-adversarial so many questions that a paragraph answers, and so many that none does."""
    source = DATA / "squad2-adversarial"
    corpus = [json.loads(line) for line in (source / "corpus.jsonl").read_text("utf-8").splitlines()]
    queries = [json.loads(line) for line in (source / "queries.jsonl").read_text("utf-8").splitlines()]
    asked = []
    for answerable in (True, False):
        right = [one for one in queries if one["answerable"] is answerable]
        step = max(1, len(right) // some)
        asked += [{"id": one["_id"], "text": one["text"], "answerable": answerable} for one in right[::step][:some]]
    documents = [{"id": one["_id"], "text": one["text"], "chunks": [one["text"]]} for one in corpus]
    return put(folder, {"kind": "refusal", "questions": asked, "vectors": []}, documents)


def offsets(folder: Path, suffix: str) -> Path:
    """Files of one format: the smaller ones of docs-formats by name, texts of a set as plain text."""
    folder.mkdir(parents=True, exist_ok=True)
    if suffix == "txt":
        lines = (DATA / "xquad-en" / "corpus.jsonl").read_text("utf-8").splitlines()
        texts = [json.loads(line)["text"] for line in lines]
        names = [f"text{number}.txt" for number in range(EACH)]
        for number, name in enumerate(names):
            (folder / name).write_text("\n\n".join(texts[number::EACH]) + "\n", encoding="utf-8")
    else:
        formats = DATA / "docs-formats"
        listed = [json.loads(line)["file"] for line in (formats / "manifest.jsonl").read_text("utf-8").splitlines()]
        right = [one for one in sorted(listed) if one.endswith(f".{suffix}") and "password" not in one]
        paths = [formats / one for one in right if "encryption" not in one and (formats / one).stat().st_size < LARGEST]
        step = max(1, len(paths) // EACH)
        made = [DATA / "parsing" / "made" / one for one in MADE if one.endswith(f".{suffix}")]
        names = []
        for path in [*paths[::step][:EACH], *made]:
            names.append(path.name)
            shutil.copyfile(path, folder / path.name)
    return put(folder, {"kind": "offsets", "format": suffix, "files": names, "vectors": []})


def nasty(folder: Path, name: str) -> Path:
    """One damaged or hostile file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = DATA / "parsing" / name
    shutil.copyfile(path, folder / path.name)
    return put(
        folder, {"kind": "nasty", "files": [path.name], "limit_mb": NASTY_MB, "seconds": NASTY_SECONDS, "vectors": []}
    )


@dataclass
class Maker:
    """Makes the vectors of texts that no file has yet, and counts the seconds of passages."""

    encoder: Embedder
    seconds: float = 0.0

    def make(self, file: Path, texts: Sequence[str]) -> None:
        """Texts begin with `query: ` or `passage: `, as e5 is told them."""
        rows = []
        for text in texts:
            kind, _, rest = text.partition(": ")
            rows.append(self.encoder.embed_query(rest) if kind == "query" else None)
        passages = [self._fitting(text.partition(": ")[2]) for text in texts if text.startswith("passage: ")]
        made = iter(self.encoder.embed_passages(passages) if passages else [])
        keep(file, texts, np.stack([row if row is not None else next(made) for row in rows]))

    def _fitting(self, text: str) -> str:
        """As much of a text as the model reads: peers cut longer ones than its window, and are not told of it."""
        tokenizer = self.encoder.tokenizer
        room = tokenizer.window - tokenizer.overhead
        while (count := tokenizer.count(text)) > room:
            text = text[: min(len(text) - 1, len(text) * room // count)]
        return text
