"""Claims over passages, each faithful or changed in one known way: what the support of sentences is measured with.

    .venv/bin/python evaluation/make_perturbations.py --data ../shared/data --out claims.jsonl

Sentences come from the sample handbook and, with --data, from squad-it and xquad-en (read, never stored here). Every
base is a sentence as it stands, or a paraphrase of one written by hand (support/paraphrases.tsv); changes are those of
support_changes.py. The half is the source document's, so that no document is on both sides. Seeded: the same files give
the same claims.

With --fresh the claims are of documents and paraphrases that were invented for this alone (support/fresh/).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from support_changes import CHANGES, Around, codes_in, proper_names

from fonte.parsers.registry import parse_body
from fonte.pieces import pieces_of
from fonte.text.canonical import NORMALISER_VERSION, canonicalise
from fonte.text.chunking import make_chunker
from fonte.types import (
    Acl,
    Chunk,
    ChunkingRecipe,
    Document,
    Hit,
    Parsed,
    Passage,
    Recipe,
    Source,
    Space,
    StoredChunk,
    sha256_hex,
)

ROOT = Path(__file__).resolve().parents[1]
HANDBOOK = ROOT / "sample" / "handbook"
HELD_OUT = Path(__file__).resolve().parent / "support" / "held-out.txt"
PARAPHRASES = Path(__file__).resolve().parent / "support" / "paraphrases.tsv"
LATER = PARAPHRASES.with_name("paraphrases-later.tsv")
"""Of held-out documents, written when the rules of the checks stood fast."""
FRESH = PARAPHRASES.parent / "fresh"
"""Documents of our own invention, each sentence with a paraphrase, by half; the held-out one is measured only once."""
FRESH_HALVES = {"fresh-development": "development", "fresh-held-out": "held_out"}
PER_PARAGRAPH = 4
SEED = 20261130
SHORTEST, LONGEST = 30, 400
"""Characters of a sentence that is worth a change."""
PER_KIND = 110
"""Most claims of one kind from one set and base."""
_TOKENS = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim, the passage it cites, and what was done to it."""

    id: str
    kind: str
    base: str
    """``verbatim`` or ``paraphrase``: what was changed."""
    corpus: str
    document: str
    half: str
    language: str
    source_language: str
    start: int
    end: int
    said: str
    source: str


@dataclass(frozen=True, slots=True)
class Place:
    """A sentence in its document and its passage."""

    corpus: str
    chunk: Chunk
    document: Document
    start: int
    end: int
    neighbor: str
    row: bool

    @property
    def text(self) -> str:
        """The sentence on one line."""
        return " ".join(self.document.text[self.start : self.end].split())


class _Words:
    """Counts words and marks: passages are cut without a model."""

    overhead = 0
    window = 512

    def count(self, text: str) -> int:
        """Words and marks."""
        return len(_TOKENS.findall(text))

    def offsets(self, text: str) -> Sequence[tuple[int, int]]:
        """Their characters."""
        return [match.span() for match in _TOKENS.finditer(text)]


def sample_documents() -> Iterator[Document]:
    """The handbook's texts that need no other program, parsed as a sync parses them."""
    for path in sorted(HANDBOOK.rglob("*")):
        if path.suffix not in {".md", ".txt", ".html", ".docx"}:
            continue
        body, name = path.read_bytes(), path.relative_to(HANDBOOK).as_posix()
        source = Source(f"file:///handbook/{name}", name, sha256_hex(body.hex()), Acl(frozenset({"public"})), body=body)
        yield canonicalise(parse_body(source), source, tenant="default")


def data_documents(folder: Path, language: str) -> Iterator[Document]:
    """Paragraphs of a public set, each a document that is named after its article."""
    for line in (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        source = Source(
            f"file:///{row['_id']}",
            row["title"],
            sha256_hex(row["text"]),
            Acl(frozenset({"public"})),
            language=language,
        )
        parsed = Parsed((), "text/1", media_type="text/plain", tail=row["text"], title=row["title"])
        yield canonicalise(parsed, source, tenant="default")


def fresh_texts(half: str) -> Iterator[tuple[str, str, list[tuple[str, str, str]]]]:
    """Language and title of every invented document of a half, and its sentences: text, claim's language, claim."""
    for path in sorted(FRESH.glob(f"{half.replace('_', '-')}-*.txt")):
        for block in path.read_text(encoding="utf-8").split("# ")[1:]:
            heading, *lines = block.splitlines()
            language, title = heading.split(" ", 1)
            rows = []
            for sentence, told in zip(lines[::2], lines[1::2], strict=True):
                mark, claim = told.split(" ", 1)
                rows.append((sentence, mark.removeprefix(">") or language, claim))
            yield language, title, rows


def fresh_documents(half: str) -> Iterator[Document]:
    """The invented documents of a half, a few sentences a paragraph."""
    for language, title, rows in fresh_texts(half):
        sentences = [sentence for sentence, *_ in rows]
        parts = [sentences[at : at + PER_PARAGRAPH] for at in range(0, len(sentences), PER_PARAGRAPH)]
        text = "\n\n".join(" ".join(part) for part in parts)
        source = Source(f"file:///{title}", title, sha256_hex(text), Acl(frozenset({"public"})), language=language)
        parsed = Parsed((), "text/1", media_type="text/plain", tail=text, title=title)
        yield canonicalise(parsed, source, tenant="default")


def places(corpus: str, documents: Iterable[Document]) -> list[Place]:
    """Every sentence of every document that is long enough, with the passage that a sync would cut."""
    recipe = Recipe("1", NORMALISER_VERSION, ChunkingRecipe(), "1", Space("words", "1", 1, "mean", "", ""))
    chunker = make_chunker(recipe, _Words())
    found = []
    for document in documents:
        if document.language not in {"en", "it"}:
            continue
        for chunk in chunker.chunk(document):
            pieces = pieces_of(passage_of(document, chunk), 0, lambda _: True)
            for at, one in enumerate(pieces):
                other = pieces[at + 1] if at + 1 < len(pieces) else pieces[at - 1]
                neighbor = " ".join(other.text.split())
                found.append(Place(corpus, chunk, document, one.start, one.end, neighbor, one.row))
    return found


def passage_of(document: Document, chunk: Chunk) -> Passage:
    """A chunk as a generator is shown it."""
    stored = StoredChunk(
        chunk, document.name, document.uri, document.version, document.title, document.acl.roles, document.media_type
    )
    return Passage(1, stored, document, chunk.start, chunk.end, Hit(chunk.id, document.id, 0.0))


def written(path: Path) -> list[tuple[str, ...]]:
    """Document, language, anchor and claim of every paraphrase of a file."""
    return [tuple(line.split("\t")) for line in path.read_text(encoding="utf-8").splitlines()[1:]]


def paraphrases(corpus: str, known: Sequence[Place]) -> list[tuple[Place, str, str]]:
    """The written paraphrases of a set: the sentence that each goes back to, its language, its text.

    Raises:
        ValueError: an anchor that no sentence of its document holds.
    """
    found = []
    rows: list[tuple[str, ...]] = []
    if corpus == "sample":
        rows = [*written(PARAPHRASES), *written(LATER)]
    elif corpus in FRESH_HALVES:
        texts = fresh_texts(FRESH_HALVES[corpus])
        rows = [(title, language, anchor, claim) for _, title, own in texts for anchor, language, claim in own]
    for name, language, anchor, claim in rows:
        own = [one for one in known if one.document.name == name and anchor in one.text]
        if not own:
            raise ValueError(f"{name} holds no sentence with {anchor!r}")
        found.append((own[0], language, claim))
    return found


def halves(names: Iterable[str]) -> dict[str, str]:
    """Documents parted in two, ``development`` and ``held_out``, by the list that was drawn once."""
    held_out = set(HELD_OUT.read_text(encoding="utf-8").splitlines())
    held_out_sets = tuple(f"{corpus}/" for corpus, half in FRESH_HALVES.items() if half == "held_out")
    return {name: "held_out" if name in held_out or name.startswith(held_out_sets) else "development" for name in names}


def build(corpora: dict[str, list[Place]], seed: int = SEED) -> list[Claim]:
    """All claims, by kind, set and base, of sentences as they stand in public sets at most PER_KIND each."""
    every = [one for own in corpora.values() for one in own]
    half = halves(f"{one.corpus}/{one.document.name}" for one in every)
    made: dict[tuple[str, str, str], list[Claim]] = defaultdict(list)
    for corpus, own in corpora.items():
        names = sorted({match.group() for one in own for match in proper_names(one.text)})
        codes = sorted({match.group() for one in own for match in codes_in(one.text)})
        bases = [(one, one.document.language, one.text, "verbatim") for one in own if one.row or _is_prose(one.text)]
        random.Random(f"{seed} {corpus}").shuffle(bases)  # noqa: S311 - for repeatable samples, not for secrets
        bases += [(one, language, text, "paraphrase") for one, language, text in paraphrases(corpus, own)]
        for place, language, text, base in bases:
            around = Around(place.chunk.content, place.neighbor, names, codes)
            # Of its own, so that a paraphrase more changes no other claim.
            rng = random.Random(f"{seed} {place.document.name} {text}")  # noqa: S311 - as above
            for kind, change in CHANGES.items():
                changed = change(text, language, around, rng)
                if changed is not None and changed != text:
                    made[corpus, kind, base].append(_claim(place, kind, base, language, changed, text, half))
            made[corpus, "faithful", base].append(_claim(place, "faithful", base, language, text, text, half))
    kept = [
        one
        for key in sorted(made)
        for one in (made[key] if key[2] == "paraphrase" or key[0] in FRESH_HALVES else made[key][:PER_KIND])
    ]
    return [replace(one, id=f"c{at:05}") for at, one in enumerate(kept)]


def _is_prose(text: str) -> bool:
    return SHORTEST <= len(text) <= LONGEST and text[-1:] in ".!?»”\"'" and "|" not in text and "```" not in text


def _claim(place: Place, kind: str, base: str, language: str, said: str, source: str, half: dict[str, str]) -> Claim:
    name = place.document.name
    return Claim(
        "", kind, base, place.corpus, place.document.uri, half[f"{place.corpus}/{name}"], language,
        place.document.language, place.chunk.start, place.chunk.end, said, source,
    )  # fmt: skip


def load(data: Path | None) -> dict[str, list[Place]]:
    """Sentences of the sample, and of the public sets where their folder is given."""
    corpora = {"sample": places("sample", sample_documents())}
    for name, language in (("squad-it", "it"), ("xquad-en", "en")):
        if data is not None and (data / name).is_dir():
            corpora[name] = places(name, data_documents(data / name, language))
    return corpora


def load_fresh(half: str) -> dict[str, list[Place]]:
    """Sentences of the invented documents of a half."""
    return {corpus: places(corpus, fresh_documents(half)) for corpus, own in FRESH_HALVES.items() if own == half}


def fingerprint(claims: Sequence[Claim]) -> str:
    """Hash of every claim: figures are of this set and no other."""
    return hashlib.sha256("\n".join(json.dumps(asdict(one), sort_keys=True) for one in claims).encode()).hexdigest()[
        :16
    ]


def main() -> None:
    """Write the claims as JSON lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder that holds squad-it and xquad-en")
    parser.add_argument("--fresh", choices=("development", "held_out"), help="claims of invented documents instead")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=SEED)
    told = parser.parse_args()
    claims = build(load_fresh(told.fresh) if told.fresh else load(told.data), told.seed)
    told.out.write_text("\n".join(json.dumps(asdict(one), ensure_ascii=False) for one in claims) + "\n", "utf-8")
    print(f"{len(claims)} claims, {fingerprint(claims)}")


if __name__ == "__main__":
    main()
