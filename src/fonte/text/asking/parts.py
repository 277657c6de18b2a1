"""A question that asks several things, to one question for each: by rules, in English and Italian.

Divided are sentences that each ask something, items of a list, clauses joined by "and", "e" or a comma that begin with
an interrogative of their own, interrogatives that share a clause ("how and when …"), and two objects of one preposition
("in Italy and in the United Kingdom"). What is said without asking (a first sentence, words before a colon) belongs to
every part. Where no rule is sure, the question stays whole.
"""

from __future__ import annotations

import re
from typing import Final

from fonte.text.asking.wording import ASKS, INTERROGATIVE, PREPOSITION, content_words, points_back, topic
from fonte.text.sentences import sentences
from fonte.types import QuestionPart

MOST_PARTS: Final = 4
"""A text that would give more is no question of several parts but a letter: it stays whole."""
_FEWEST_WORDS: Final = 2
"""Words that carry a subject, below which a part stands on its own only where an article names its one thing."""
_NAMED_THING = re.compile(
    r"(?<!\w)(?:(?:an?|the|my|our|your|il|lo|la|i|gli|le|una?|uno|del|dell[ao]|di|dei|degli|delle) "
    r"|(?:l|un|d|dell|nell|all|sull)['’])(?=\w)",
    re.IGNORECASE,
)

_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|«[^»]*»")
_HIDDEN: Final = 0xE000
"""The first of the characters that stand for quotations while a text is divided; nobody writes them."""
_MARK = re.compile(r"(?<=\?)\s+")
_ITEM = re.compile(r"(?:^|\n|(?<=[\s:;]))\s*(?:[-*•]|\(?\d{1,2}[.)]|\(?[a-d]\))\s+")
_AUXILIARY = (
    r"(?:(?:is|are|was|were|do|does|did|can|could|may|must|should|will|would) "
    r"(?:i|we|you|he|she|it|they|there|this|that|these|those|the|an?|my|our|your|any|anyone|someone|staff)"
    r"|(?:posso|possiamo|devo|dobbiamo|si può|si deve|bisogna|serve|servono|occorre|c['’]è|ci sono|ho diritto))"
)
_WH = rf"(?:(?:{PREPOSITION} )?{INTERROGATIVE}|{PREPOSITION} che)(?!\w)"
_NEXT = rf"(?={_WH}|{_AUXILIARY}(?!\w))"
_AND = re.compile(
    rf"(?:\s*[,;])?\s+(?:and also|and then|and|e anche|e poi|e|ed)\s+{_NEXT}|\s*;\s+{_NEXT}", re.IGNORECASE
)
_COMMA = re.compile(rf"\s*,\s+(?={_WH})", re.IGNORECASE)
_ALL_JOINTS = re.compile(f"{_AND.pattern}|{_COMMA.pattern}", re.IGNORECASE)
_BEFORE = re.compile(rf"^(?P<said>[^?]*?)(?:,|:| -) (?P<asked>(?P<and>and |e )?{_WH}.*)$", re.IGNORECASE)
_SUBORDINATE = re.compile(
    r"^(?:(?:if|while|as|since|after|before|se|quando|dove|mentre|dopo che)\s"
    r"|(?:when|where) (?!(?:is|are|was|were|do|does|did|can|could|may|must|should|will|would)\b)(?=\w))",
    re.IGNORECASE,
)
_LEADING = re.compile(r"^(?:and|e|ed|but|ma|so|allora|also|then|poi)\s+", re.IGNORECASE)
_EXTENT = r"(?: (?:much|many|long|often|soon|far))?"
_SHARED = re.compile(
    rf"^(?P<one>{_WH}{_EXTENT}(?P<noun> \w+)?),? (?:and|e) (?P<other>{_WH}{_EXTENT}) (?P<rest>\S.*)$", re.IGNORECASE
)
_VERB_FIRST = re.compile(
    r"^(?:is|are|was|were|do|does|did|can|could|may|must|should|will|would|has|have"
    r"|si|è|sono|devo|posso|va|vanno|viene|vengono|deve|devono|può|possono)\s",
    re.IGNORECASE,
)
_SAME_PREPOSITION = re.compile(
    r"^(?P<head>\S.*?) (?P<one>(?:(?P<en>for|in|at|under)|(?P<it>per|in|nel|nella|nell['’]|a|al|alla|con|sotto)) ?"
    r"[^,;?]{2,40}?) (?:and|e) (?P<other>(?:(?P=en)|(?:(?P=it)|nel|nella|nello|al|alla) ) ?[^,;?]{2,40})$",
    re.IGNORECASE,
)


def split_question(text: str) -> tuple[QuestionPart, ...]:
    """The questions that ``text`` is made of, in order; none where it asks one thing, or where that is not sure.

    ``asked`` of each part is its own words, ``text`` can be looked for alone: what was said before is put in front, and
    what the first part is about behind a part that only points back to it.
    """
    quoted: list[str] = []

    def hidden(found: re.Match[str]) -> str:
        quoted.append(found.group())
        return chr(_HIDDEN + len(quoted) - 1)

    # What stands in quotation marks asks nothing.
    said, clauses = _clauses(_QUOTED.sub(hidden, text))
    shown = {_HIDDEN + at: one for at, one in enumerate(quoted)}
    said, clauses = said.translate(shown), [clause.translate(shown) for clause in clauses]
    if not 1 < len(clauses) <= MOST_PARTS:
        return ()
    first = clauses[0]
    parts = [_part(said, first, None), *(_part(said, one, first) for one in clauses[1:])]
    return tuple(parts) if len({part.text.casefold() for part in parts}) == len(parts) else ()


def _clauses(text: str) -> tuple[str, list[str]]:
    """What is said without asking, and every clause that asks, without their marks."""
    said: list[str] = []
    asked: list[str] = []
    for sentence in _sentences(text):
        bare = _bare(sentence)
        if sentence.endswith(":"):
            said += [bare] if content_words(bare) else []
            continue
        before = _BEFORE.match(bare)
        if before and (not _asks(before["said"]) or (not before["and"] and _SUBORDINATE.match(before["said"]))):
            said.append(before["said"])
            bare = before["asked"]
        if sentence.rstrip('"”») ').endswith("?") or _asks(bare):
            asked += _divided(_LEADING.sub("", bare))
        elif not asked:
            said.append(bare)
    return ", ".join(said), asked


def _sentences(text: str) -> list[str]:
    items = [item.strip() for item in _ITEM.split(text) if item.strip()]
    if len(items) > 1 and sum(map(_asks, items)) > 1:
        return items
    flat = " ".join(text.split())
    # Who types in small letters ends a question by its mark alone.
    return [one[start:end] for one in _MARK.split(flat) for start, end in sentences(one, "it")]


def _asks(text: str) -> bool:
    return ASKS.search(text) is not None


def _bare(text: str) -> str:
    return text.strip().rstrip("?!.,;: ").strip()


def _divided(clause: str) -> list[str]:
    shared = _SHARED.match(clause)
    if shared and content_words(shared["rest"]) and (not shared["noun"] or _VERB_FIRST.match(shared["rest"])):
        return [f"{shared['one']} {shared['rest']}", f"{shared['other']} {shared['rest']}"]
    # A comma alone divides nothing ("how hard, how many bar?"); in a list with "and" at its end it does.
    joint = _ALL_JOINTS if _AND.search(clause) else _AND
    pieces = [_bare(piece) for piece in joint.split(clause)]
    if len(pieces) > 1:
        return pieces if _whole(pieces[0]) else [clause]
    same = _SAME_PREPOSITION.match(clause)
    if same and _whole(same["head"]) and content_words(same["head"]):
        return [f"{same['head']} {same['one']}", f"{same['head']} {same['other']}"]
    return [clause]


def _whole(clause: str) -> bool:
    """Whether a first clause asks something by itself."""
    return _asks(clause) and len(clause.split()) > 2  # noqa: PLR2004 - "how much" asks nothing yet


def _part(said: str, clause: str, first: str | None) -> QuestionPart:
    text = f"{said}: {clause}?" if said else f"{clause}?"
    if first is not None and not _stands_alone(clause):
        text += f" ({topic(first)})"
    return QuestionPart(text=text, asked=f"{clause}?")


def _stands_alone(clause: str) -> bool:
    """Whether it says what it is about; a subject lent to one that does leads away from where its own is found."""
    words = len(content_words(clause))
    named = words >= _FEWEST_WORDS or (words > 0 and _NAMED_THING.search(clause) is not None)
    return named and not points_back(clause)
