"""Drafts of golden questions out of the documents themselves, for a person to take, word otherwise or leave.

Extractive: a sentence that stands once in its document and holds one fact (a number, an amount, a date, a code) becomes
the needle, the fact what an answer must hold, and the sentence with a gap where the fact was the draft of a question.
Questions in a document's own words flatter word search; that is why a person rewords them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from fonte.evaluation.golden import Question
from fonte.evaluation.measures import Needle
from fonte.types import PUBLIC_ROLE, BlockKind, Document, Language, sha256_hex

Splitter = Callable[[str, Language], Sequence[tuple[int, int]]]
"""Ranges of a text's sentences in order."""

GAP = "…"
_PROSE = frozenset({BlockKind.PARAGRAPH, BlockKind.LIST_ITEM})
_SHORTEST, _LONGEST = 40, 240
_MONTH = (
    "january|february|march|april|may|june|july|august|september|october|november|december|gennaio|febbraio|marzo|"
    "aprile|maggio|giugno|luglio|agosto|settembre|ottobre|novembre|dicembre"
)
_FACT = re.compile(
    rf"""
    (?<![\w.,/-])(?:
        (?:\d{{1,2}}\s)?(?:{_MONTH})\s\d{{4}}        # 3 May 2026, May 2026
      | \d{{1,2}}\s(?:{_MONTH})                      # 3 May
      | [A-Z]{{2,}}(?:-[A-Z\d]+)*-?\d[\w.-]*[\w]     # AX-1200, CVE-2024-1
      | [€£$]\s?\d[\d.,]*\d | [€£$]\s?\d             # €1,200
      | \d[\d.,:/-]*\d(?:\s?[%€£])? | \d(?:\s?[%€£])?  # 1,200; 09:30; 5 %
    )(?![\w])
    """,
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Draft:
    """A candidate: its needle, the fact in it, the sentence with a gap, and where it stands."""

    document: Document
    needle: Needle
    fact: str
    gapped: str
    section: tuple[str, ...]

    def question(self, identity: str, wording: str, segment: str = "") -> Question:
        """The question that a person made of it: asked by somebody who may read the document."""
        role = min(self.document.acl.roles - {PUBLIC_ROLE}, default=None)
        public = role is None or PUBLIC_ROLE in self.document.acl.roles
        user = None if public or role is None or not role.startswith("user:") else role.removeprefix("user:")
        return Question(
            id=identity,
            wordings=(wording,),
            needles=(Needle(self.document.name, self.needle.text),),
            relevance={self.document.name: 1},
            tenant=self.document.tenant,
            user=user,
            roles=frozenset() if public or user or role is None else frozenset({role}),
            segment=segment,
            language=self.document.language,
            reference_answer=self.needle.text,
            must_include=(self.fact,),
        )


def propose(documents: Iterable[Document], split: Splitter, count: int, *, seed: int = 0) -> list[Draft]:
    """At most ``count`` drafts, taken from the documents in turn so that no long one crowds out the others.

    Which sentences come first in a document is drawn by ``seed``; equal documents and seeds give equal drafts.

    Raises:
        ValueError: a count below 1.
    """
    if count < 1:
        raise ValueError("propose at least one question")
    queues = []
    for document in sorted(documents, key=lambda one: (one.tenant, one.name, one.id)):
        drafts = _drafts(document, split)
        drafts.sort(key=lambda one: sha256_hex(f"{seed}\0{one.document.id}\0{one.needle.start}"))
        queues.append(drafts)
    chosen: list[Draft] = []
    asked: set[str] = set()
    for turn in range(max(map(len, queues), default=0)):
        for queue in queues:
            if turn < len(queue) and queue[turn].gapped not in asked:
                asked.add(queue[turn].gapped)
                chosen.append(queue[turn])
                if len(chosen) == count:
                    return chosen
    return chosen


def _drafts(document: Document, split: Splitter) -> list[Draft]:
    found = []
    for span in document.spans:
        if span.kind not in _PROSE:
            continue
        for low, high in split(document.text[span.start : span.end], document.language):
            draft = _draft(document, span.start + low, span.start + high)
            if draft is not None:
                found.append(draft)
    return found


def _draft(document: Document, start: int, end: int) -> Draft | None:
    """A sentence as a draft, when it has exactly one fact and stands once in its document."""
    sentence = document.text[start:end]
    if not _SHORTEST <= len(sentence) <= _LONGEST or "\n" in sentence:
        return None
    # A number at the beginning with a mark after it counts the list's items.
    facts = [
        fact for fact in _FACT.finditer(sentence) if fact.start() or sentence[fact.end() : fact.end() + 1] not in ".)"
    ]
    if len(facts) != 1 or document.text.count(sentence) != 1:
        return None
    fact = facts[0]
    gapped = sentence[: fact.start()] + GAP + sentence[fact.end() :]
    path = next((one.path for one in document.sections if one.start <= start < one.end), ())
    return Draft(document, Needle(document.name, sentence, start, end), fact.group().strip(), gapped, path)
