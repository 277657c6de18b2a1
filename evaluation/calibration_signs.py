"""Signs that the gate does not have, out of what calibration_features.py kept of each question.

They are measured before any of them is proposed for fonte.evidence: a sign that does not win a paired test beside the
present ones is not worth its code. Families are what an ablation leaves out together.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from fonte.text.terms import folded

Row = Mapping[str, Any]

PRESENT: Mapping[str, tuple[str, ...]] = {
    "nearest passage": ("similarity", "standing"),
    "token alignment": ("alignment",),
    "sentences": ("sentence", "sentence_alignment"),
    "rare words": ("coverage", "sentence_coverage"),
    "agreement of the legs": ("agreement",),
    "rules": ("fits", "code_missing", "quoted", "comparable"),
    "reading": ("reading",),
    "weakest word": ("weakest",),
    "numbers": ("numbers",),
    "late interaction": ("late", "late_ahead"),
}
PROPOSED: Mapping[str, tuple[str, ...]] = {
    "BM25": ("bm25", "bm25_ahead"),
    "other articles": ("ahead", "ahead_of_others"),
    "weakest name": ("weakest_name", "words_near"),
    "names": ("names", "named_together"),
    "kind asked for": ("typed", "typed_similarity", "typed_coverage"),
}
DIRECTIONS: Mapping[str, int] = {
    "weakest_name": 1,
    "words_near": 1,
    "names": 1,
    "named_together": 1,
    "typed": 1,
    "typed_similarity": 1,
    "typed_coverage": 1,
}

_NUMBER = re.compile(r"\d+(?:[.,:/]\d+)*")
_YEAR = re.compile(r"\b(?:1\d{3}|20\d{2})\b")
_WORD = re.compile(r"\w+(?:[-/.’']\w+)*")
_MONTH = re.compile(
    r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december|gennaio|febbraio"
    r"|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|novembre|dicembre|century|secolo|\w+day|\w+dì)\b",
    re.IGNORECASE,
)
_IN_WORDS = re.compile(
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|hundred|thousand|million|billion|half|due|tre"
    r"|quattro|cinque|sei|sette|otto|nove|dieci|undici|dodici|cento|mille|mila|milion[ei]|miliard[oi]|metà|twice)\b",
    re.IGNORECASE,
)
_ASKED: Sequence[tuple[str, re.Pattern[str]]] = (
    (
        "time",
        re.compile(
            r"\b(?:when|what (?:year|date|day|month|century|decade|time)|which (?:year|day|month|century|decade)|quando"
            r"|(?:che|quale|qual è l['’]?) ?(?:anno|data|giorno|mese|secolo|ora|periodo))\b",
            re.IGNORECASE,
        ),
    ),
    (
        "number",
        re.compile(
            r"\b(?:how (?:many|much|long|often|old|far|high|large|big|tall|deep)|what (?:percent\w*|number|amount|share"
            r"|fraction|price|temperature)|quant[oiae]|percentuale|numero)\b",
            re.IGNORECASE,
        ),
    ),
    ("name", re.compile(r"\b(?:who|whom|whose|where|chi|dove)\b", re.IGNORECASE)),
)


def signs(row: Row, titles: Mapping[str, str]) -> dict[str, float]:
    """The gate's own signs of a question and the proposed ones; nothing where nothing was found."""
    if not row["features"]:
        return {}
    return {
        **row["features"],
        **_legs(row, titles),
        **_words(row),
        **_named(row),
        **_typed(row),
    }


def _legs(row: Row, titles: Mapping[str, str]) -> dict[str, float]:
    """How far the first of a ranking is ahead of the next, and of the next in another article."""
    bm25 = [score for _, score, _ in row["legs"].get("bm25", ())]
    dense = [(titles.get(name, name), score) for name, score, _ in row["legs"].get("dense", ())]
    wanted = sum(weight for _, weight in row["words"]) or 1.0
    others = [score for title, score in dense if title != dense[0][0]]
    return {
        "bm25": bm25[0] / wanted if bm25 else 0.0,
        "bm25_ahead": (bm25[0] - bm25[1]) / wanted if len(bm25) > 1 else 0.0,
        "ahead": dense[0][1] - dense[1][1] if len(dense) > 1 else 0.0,
        "ahead_of_others": dense[0][1] - others[0] if others else 0.0,
    }


def _words(row: Row) -> dict[str, float]:
    """Of the question's rare words, how near they come to a token of the best sentence: the mean, the least name."""
    near = row["cosines"].get("sentence 0") or row["cosines"].get("any") or []
    names = {folded(name) for name in names_of(row["question"])}
    least_name, total, weights = 1.0, 0.0, 0.0
    for match in _WORD.finditer(row["question"]):
        weight = next((weight for text, weight in row["words"] if text == match.group()), 0.0)
        own = [
            cosine
            for (start, end), cosine in zip(row["tokens"], near, strict=False)
            if start < match.end() and end > match.start()
        ]
        if not own or weight <= 0:
            continue
        cosine = sum(own) / len(own)
        total, weights = total + weight * cosine, weights + weight
        if folded(match.group()) in names or _NUMBER.search(match.group()):
            least_name = min(least_name, cosine)
    return {"weakest_name": least_name, "words_near": total / weights if weights else 0.0}


def names_of(question: str) -> list[str]:
    """Words of the question with a capital letter, the first one left out."""
    found = _WORD.findall(question)
    return [word for word in found[1:] if word[0].isupper() and len(word) > 1]


def _held(word: str, present: set[str]) -> bool:
    own = folded(word)
    return own in present or any(len(own) > _STEM and one[:_STEM] == own[:_STEM] for one in present)


_STEM = 5
"""First letters that make two words one, whatever their endings."""


def _present(text: str) -> set[str]:
    return {folded(word) for word in _WORD.findall(text)} | set(_NUMBER.findall(text))


def _share(wanted: Sequence[str], present: set[str]) -> float:
    return sum(_held(word, present) for word in wanted) / len(wanted) if wanted else 1.0


def _named(row: Row) -> dict[str, float]:
    """Share of the question's names in the best sentence, and of its names and numbers in any one sentence."""
    names = names_of(row["question"])
    numbers = _NUMBER.findall(row["question"])
    texts = [sentence[1] for sentence in row["sentences"]]
    best = _present(texts[0]) if texts else set()
    together = [_share([*names, *numbers], _present(text)) for text in texts] if names or numbers else [1.0]
    return {
        "names": _share(names, best),
        "named_together": max(together, default=0.0),
    }


def asked_for(question: str) -> str:
    """``time``, ``number``, ``name``, or ``other``."""
    return next((kind for kind, pattern in _ASKED if pattern.search(question)), "other")


def holds(kind: str, text: str, question: str) -> bool:
    """Whether a sentence holds a thing of the kind that is asked for, other than those that the question names."""
    own = _present(question)
    if kind == "time":
        return any(year not in own for year in _YEAR.findall(text)) or bool(_MONTH.search(text))
    if kind == "number":
        return any(number not in own for number in _NUMBER.findall(text)) or bool(_IN_WORDS.search(text))
    if kind == "name":
        return any(not _held(name, own) for name in names_of(text))
    return True


def _typed(row: Row) -> dict[str, float]:
    """Whether the best sentence holds the kind of thing asked for, and the best similarity and coverage of all such."""
    kind = asked_for(row["question"])
    fitting = [one for one in row["sentences"] if holds(kind, one[1], row["question"])]
    best = row["sentences"][0] if row["sentences"] else None
    return {
        "typed": float(best is not None and any(one is best for one in fitting)),
        "typed_similarity": max((one[3] for one in fitting), default=0.0),
        "typed_coverage": max((one[5] for one in fitting), default=0.0),
    }
