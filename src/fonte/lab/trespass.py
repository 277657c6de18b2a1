"""Questions asked by those who may not know: another tenant, and one's own people without the role.

What comes back is judged by where each source lies, and by the words that had to stay unknown; neither asks the index
or its catalog.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fonte.corpus import OpenCorpus
from fonte.errors import NotFound
from fonte.evaluation.golden import GoldenSet, Question
from fonte.lab.place import ROLES, TENANTS, Place
from fonte.protocols import Progress
from fonte.text.expected import Expected
from fonte.types import Answer, Answered, Principal, SearchResults

DEEP = 50
NOWHERE = "personal/nobody/no-such-document.md"
OTHER_TENANT, WITHOUT_ROLE = "the other tenant", "somebody without the role"


@dataclass(frozen=True, slots=True)
class Trespass:
    """What came of a kind of asker who may not know.

    ``results`` were looked at, ``unauthorized`` of them lie where the asker may not read, ``leaks`` questions were told
    the needle's words all the same, and ``betrayed`` were told that something is there.
    """

    kind: str
    questions: int
    results: int
    unauthorized: int
    leaks: int
    answered: int
    betrayed: int

    @property
    def held(self) -> bool:
        """Whether nothing came out."""
        return not (self.unauthorized or self.leaks or self.betrayed)


@dataclass(frozen=True, slots=True)
class _Try:
    kind: str
    question: Question
    asker: Principal


def cross_examine(corpus: OpenCorpus, place: Place, golden: GoldenSet, progress: Progress) -> list[Trespass]:
    """Every question that can be answered, asked by another tenant, and by one's own people without the role.

    The latter only where all that answers it is closed to them.
    """
    tries = list(_tries(golden, place))
    told = []
    done = 0
    for kind in (OTHER_TENANT, WITHOUT_ROLE):
        own = [one for one in tries if one.kind == kind]
        seen = results = leaks = answered = betrayed = 0
        for one in own:
            found = corpus.search(one.question.wordings[0], principal=one.asker, k=DEEP)
            answer = corpus.ask(one.question.wordings[0], principal=one.asker)
            seen += trespasses(place, one.asker, found, answer)
            results += len(found.results)
            answered += isinstance(answer, Answered)
            leaks += any(needle.text in text for needle in one.question.needles for text in _texts(found, answer))
            betrayed += _betrays(corpus, place, one)
            done += 1
            progress("asking those who may not know", done, len(tries))
        told.append(Trespass(kind, len(own), results, seen, leaks, answered, betrayed))
    return told


def trespasses(place: Place, asker: Principal, found: SearchResults, answer: Answer) -> int:
    """Results, copies told beside them, citations and nearest passages that lie where the asker may not read."""
    citations = answer.citations if isinstance(answer, Answered) else ()
    passages = [*found.results, *(() if isinstance(answer, Answered) else answer.nearest)]
    uris = [one.source_uri for one in citations] + [one.stored.source_uri for one in passages]
    uris += [uri for one in citations for _, uri in one.duplicates]
    uris += [uri for one in passages for _, uri in one.duplicates]
    return sum(not place.admits(uri, asker) for uri in uris)


def _tries(golden: GoldenSet, place: Place) -> Iterator[_Try]:
    for question in golden.questions:
        if not question.answerable:
            continue
        for tenant in TENANTS:
            if tenant != question.tenant:
                yield _Try(OTHER_TENANT, question, Principal(tenant, question.user, ROLES))
        stranger = Principal(question.tenant)
        documents = place.documents(question.tenant).resolve()
        if not any(place.admits((documents / name).as_uri(), stranger) for name in question.relevance):
            yield _Try(WITHOUT_ROLE, question, stranger)


def _texts(found: SearchResults, answer: Answer) -> Iterator[str]:
    yield from (one.content for one in found.results)
    if isinstance(answer, Answered):
        yield answer.text
        yield from (one.quote for one in answer.citations)
    else:
        yield answer.message
        yield from (one.content for one in answer.nearest)


def _betrays(corpus: OpenCorpus, place: Place, one: _Try) -> bool:
    """Whether ``show`` or ``why`` tells of a hidden document anything else than of one that does not exist."""
    own = place.documents(one.asker.tenant).resolve()
    hidden = [
        name
        for name in one.question.relevance
        if not ((own / name).exists() and place.admits((own / name).as_uri(), one.asker))
    ]
    return any(
        _shown(corpus, name, one.asker) != _shown(corpus, NOWHERE, one.asker)
        or _why(corpus, one, name) != _why(corpus, one, NOWHERE)
        for name in hidden
    )


def _shown(corpus: OpenCorpus, name: str, asker: Principal) -> str:
    try:
        return corpus.document(name, principal=asker).id
    except NotFound as error:
        return f"{error.message}; {error.hint}".replace(name, "NAME")


def _why(corpus: OpenCorpus, one: _Try, name: str) -> str:
    words: Sequence[str] = [needle.text for needle in one.question.needles if needle.document == name]
    expected = Expected(words=words[0] if words else "words that stand nowhere at all", document=name)
    found = corpus.why(one.question.wordings[0], expected, principal=one.asker)
    return repr(dataclasses.astuple(found)).replace(name, "NAME").replace(expected.words, "WORDS")
