"""A question to an answer computed over a table, to a refusal in plain words, or to nothing: an ordinary question.

Tables are looked for in the documents that retrieval found, all of them within the asker's rights and filters. A
question is answered from a table only when each of its words is accounted for there, and only when no other table found
answers it as well. It is refused when it asks for something computed of a table (of its rows or a column, and most of
its words are the table's, or the table's rows were found first) and is not understood wholly: passages could only
suggest a number then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fonte.cite import mint
from fonte.computed.grid import Table, outlines, read_table
from fonte.computed.query import Refused, Result, compute
from fonte.computed.question import Question, read_question
from fonte.computed.reading import Plan, Unread, plan_of
from fonte.computed.refusing import why
from fonte.computed.telling import items_of, left_out, lookup_sentence, main_sentence, name_of, words_of
from fonte.computed.values import fold
from fonte.computed.words import ASKING, Operation
from fonte.retrieve import FUSION, Found, Retrieved
from fonte.store_protocols import Catalog
from fonte.text.locate import label, locate, section_at
from fonte.types import (
    SEARCHABLE,
    Chunk,
    Citation,
    Computed,
    Document,
    DocumentState,
    DocumentStatus,
    Hit,
    Language,
    Locator,
    Passage,
    Principal,
    Query,
    Sentence,
    StoredChunk,
)

_DOCUMENTS = 20
"""Most documents whose tables are looked at."""
_QUOTED = 4000
"""Most characters of a table that its citation quotes; of a longer one the column names and the first rows."""
_LOSSES = frozenset({"ragged_rows", "unbalanced_quotes", "bad_line", "formula_without_value"})
"""What a parser may have lost that makes a figure wrong although the document is whole."""


@dataclass(frozen=True, slots=True)
class Reach:
    """What the asker may see of the index."""

    document: Callable[[str], Document | None]
    """A document by id, None where it is not the asker's to read."""
    state: Callable[[str], DocumentState | None]
    admitted: Callable[[Query], Iterator[str]]
    """Ids of the documents with text that the asker may read and that no filter of a question keeps out for certain."""


def reach_of(catalog: Catalog, generation: str, principal: Principal, known: Mapping[str, Document]) -> Reach:
    """The reach of a principal in a generation; ``known`` are documents that were loaded already."""

    def document(document_id: str) -> Document | None:
        if not catalog.may_read(document_id, principal):
            return None
        return known.get(document_id) or catalog.document(generation, document_id)

    def admitted(query: Query) -> Iterator[str]:
        for one in catalog.states(generation):
            names = {one.document_id, one.name, one.uri}
            if one.status not in SEARCHABLE or not (
                names.intersection(query.filters.documents) or not query.filters.documents
            ):
                continue
            if catalog.may_read(one.document_id, principal) and _may_hold(query, one.document_id, document):
                yield one.document_id

    return Reach(document, lambda document_id: catalog.state(generation, document_id), admitted)


def _may_hold(query: Query, document_id: str, read: Callable[[str], Document | None]) -> bool:
    """Whether filters on what a document is admit it; what a language admits is said of chunks, not of documents."""
    if not query.filters.media_types and query.as_of is None:
        return True
    document = read(document_id)
    if document is None or (query.filters.media_types and document.media_type not in query.filters.media_types):
        return False
    day = query.as_of.isoformat() if query.as_of is not None else ""
    return not day or (document.valid_from <= day and (not document.valid_to or document.valid_to >= day))


@dataclass(frozen=True, slots=True)
class Answer:
    """What was computed, as sentences with the citations that they carry."""

    sentences: tuple[Sentence, ...]
    citations: tuple[Citation, ...]
    computed: Computed
    unplaced: str = ""
    """Id of the chunk that led to the table, where no passage of its document was kept: the index alone knows that
    chunk's position, and the citations do not have it before ``placed``."""

    def placed(self, stored: StoredChunk) -> Answer:
        """The same with the position of the chunk that led to the table in its citations."""
        citations = tuple(replace(one, chunk_index=stored.chunk.index) for one in self.citations)
        return replace(self, citations=citations, unplaced="")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Nothing was computed, and nothing else may stand for it; ``why`` is a sentence."""

    code: str
    why: str
    documents: tuple[str, ...]
    """Ids of the documents whose tables it tells of."""


def over_tables(query: Query, language: Language, retrieved: Retrieved, reach: Reach) -> Answer | Refusal | None:
    """The answer computed over the one table that the question is about; None for an ordinary question."""
    question = read_question(query.text, language)
    asks = bool(question.operations)
    if not retrieved.found:
        return None
    if not question.words or not (asks or question.words[0] in ASKING):
        return None
    tables = list(_tables(question, retrieved, reach, everywhere=asks))
    read = [(table, plan_of(question, table)) for table in tables]
    plans = _distinct([plan for _, plan in read if isinstance(plan, Plan)])
    if not plans:
        return _not_understood(read, retrieved, language)
    quiet = all(plan.operation is Operation.LOOKUP for plan in plans) and not asks
    if len(plans) > 1 or not (plans[0].named or _all_seen(query, retrieved, reach)):
        labels = list(dict.fromkeys(plan.table.label for plan in plans))
        code = "which_table" if len(plans) > 1 else "no_table"
        told = tuple(plan.table.document.id for plan in plans)
        return None if quiet else Refusal(code, why(code, "", labels, language), told)
    plan = plans[0]
    try:
        _sound(plan, reach)
        result = compute(plan)
    except Refused as error:
        told = (plan.table.document.id,)
        return None if quiet else Refusal(error.code, why(error.code, plan.table.label, error.about, language), told)
    found, unplaced = _found_by(plan.table, retrieved)
    copies = [(one.document.id, one.document.uri) for one in tables if _is_copy(one, plan.table)]
    return replace(_answer(result, language, found, tuple(dict.fromkeys(copies))), unplaced=unplaced)


# --- which tables


def _tables(question: Question, retrieved: Retrieved, reach: Reach, *, everywhere: bool) -> Iterator[Table]:
    """Tables of the documents found, best first; ``everywhere``: of those that only a leg found too."""
    words = set(question.words)
    for document_id in _document_ids(retrieved, everywhere=everywhere):
        document = reach.document(document_id)
        for outline in outlines(document) if document is not None else ():
            # Without an operation only a column and a cell can be meant: a table whose column names say none of the
            # question's words is not read.
            named = everywhere or _says(document, outline.rows, words)
            table = read_table(document, outline) if named and document is not None else None
            if table is not None and not (len(table.names) == 1 and "no_header" in table.faults):
                yield table


def _says(document: Document | None, rows: Sequence[int], words: set[str]) -> bool:
    if document is None:
        return False
    first = document.spans[rows[0]]
    return any(word in words for word in fold(document.text[first.start : first.end]).split())


def _document_ids(retrieved: Retrieved, *, everywhere: bool) -> list[str]:
    ids = [one.stored.chunk.document_id for one in retrieved.found]
    if everywhere:
        ids += [hit.document_id for hit in _fused(retrieved)]
    return list(dict.fromkeys(ids))[:_DOCUMENTS]


def _distinct(plans: Iterable[Plan]) -> list[Plan]:
    """One plan for tables that hold the same: copies."""
    kept: list[Plan] = []
    for plan in plans:
        if not any(_is_copy(plan.table, other.table) for other in kept):
            kept.append(plan)
    return kept


def _is_copy(one: Table, other: Table) -> bool:
    return one is not other and one.content == other.content


def _all_seen(query: Query, retrieved: Retrieved, reach: Reach) -> bool:
    """Whether no document was left unseen that the filters admit: a question without a name means the only table."""
    seen = frozenset(_document_ids(retrieved, everywhere=True))
    return len(seen) < _DOCUMENTS and seen.issuperset(reach.admitted(query))


def _found_by(table: Table, retrieved: Retrieved) -> tuple[Found, str]:
    """The passage that led to the table: the first of its rows, else the first of its document.

    Where a leg alone found the document, the table stands for the chunk found, and that chunk's id is told too.
    """
    document = table.document
    own = [one for one in retrieved.found if one.stored.chunk.document_id == document.id]
    inside = [one for one in own if _holds(table, one)]
    for one in (*inside, *own):
        return one, ""
    hit = next(hit for hit in _fused(retrieved) if hit.document_id == document.id)
    section = section_at(document, table.start)
    chunk = Chunk(
        id=hit.chunk_id,
        document_id=document.id,
        index=0,
        start=table.start,
        end=table.end,
        content=document.text[table.start : table.end],
        section=section.path if section else (),
    )
    stored = StoredChunk.of(document, chunk, document.acl.roles)
    return Found(hit, stored, table.start, table.end, (hit.chunk_id,)), hit.chunk_id


def _fused(retrieved: Retrieved) -> Iterator[Hit]:
    return (hit for ranking in retrieved.rankings if ranking.stage == FUSION for hit in ranking.hits)


def _not_understood(
    read: Sequence[tuple[Table, Plan | Unread]], retrieved: Retrieved, language: Language
) -> Refusal | None:
    """A refusal where something computed was asked of a table, by most of the question or by what was found first."""
    first = next(iter(retrieved.found), None)
    for table, unread in read:
        if isinstance(unread, Unread) and unread.meant and (unread.mostly or _holds(table, first)):
            told = (table.document.id,)
            return Refusal(unread.code, why(unread.code, table.label, unread.about, language), told)
    return None


def _holds(table: Table, found: Found | None) -> bool:
    """Whether a passage is of the table's rows."""
    if found is None or found.stored.chunk.document_id != table.document.id:
        return False
    return found.start < table.end and table.start < found.end


def _sound(plan: Plan, reach: Reach) -> None:
    """Raise Refused where the table is not known to be whole."""
    table = plan.table
    state = reach.state(table.document.id)
    if state is None or state.status is not DocumentStatus.READY:
        raise Refused("partial")
    sheet = locate(table.document, table.start, table.end).sheet
    for loss in state.ledger.losses if state.ledger else ():
        if loss.code in _LOSSES and (loss.code != "formula_without_value" or f"on {sheet}:" in loss.message):
            raise Refused("losses", loss.message)
    for fault in table.faults:
        if fault != "note_row" or (plan.operation is Operation.COUNT and not plan.conditions):
            raise Refused(fault)


# --- what is said


def _answer(result: Result, language: Language, found: Found, copies: tuple[tuple[str, str], ...]) -> Answer:
    plan = result.plan
    table = plan.table
    texts: list[tuple[str, tuple[int, ...]]]
    if plan.operation is Operation.LOOKUP:
        citations = [_row_citation(table, found, at, row) for at, row in enumerate(result.found, 1)]
        texts = [(lookup_sentence(result, row, language), (at,)) for at, row in enumerate(result.found, 1)]
    else:
        citations = [_table_citation(table, found, copies)]
        texts = [(main_sentence(result, language), (1,))]
        rows = items_of(result) or (result.found if plan.shown is not None else ())
        citations += [_row_citation(table, found, at, row) for at, row in enumerate(rows, 2)]
        if plan.operation is Operation.COUNT and rows:
            names = ", ".join(f"{name_of(table, row, 0)} [{at}]" for at, row in enumerate(rows, 2))
            texts.append((words_of(language)["items"].format(names=names), tuple(range(2, 2 + len(rows)))))
        elif rows:
            texts[0] = (texts[0][0], tuple(range(1, 2 + len(rows))))
        texts += [(text, (1,)) for text in left_out(result, language)]
    sentences = tuple(
        Sentence(_marked(text, markers), markers, "supported", {"computed": result.sql}) for text, markers in texts
    )
    return Answer(sentences, tuple(citations), _computed(result, texts[0][0]))


def _marked(text: str, markers: Sequence[int]) -> str:
    """The sentence with its markers before its stop; one that carries them inside stays as it is."""
    if f"[{markers[0]}]" in text:
        return text
    shown = "".join(f"[{marker}]" for marker in markers)
    return f"{text[:-1]} {shown}{text[-1]}"


def _computed(result: Result, sentence: str) -> Computed:
    plan, table = result.plan, result.plan.table
    place = locate(table.document, table.start, table.end)
    value = result.value
    cells = [table.columns[plan.target or 0][row] for row in result.found] if value is None else []
    return Computed(
        operation=plan.operation.value,
        expression=sentence,
        sql=result.sql,
        parameters=tuple(_shown(one) for one in result.parameters),
        columns=dict(result.columns),
        table=table.label,
        document_id=table.document.id,
        range=_range(place),
        locator=place,
        rows=result.rows,
        value="; ".join(cells) if value is None else str(value),
    )


def _shown(parameter: object) -> str | tuple[str, ...]:
    return tuple(parameter) if isinstance(parameter, list) else str(parameter)


def _range(place: Locator) -> str:
    if place.range is not None:
        return f"{place.sheet}!{place.range}" if place.sheet else place.range
    if place.page is not None:
        return f"p. {place.page}" if place.page_end in (None, place.page) else f"pp. {place.page}-{place.page_end}"
    if place.lines is not None:
        return f"lines {place.lines[0]}-{place.lines[1]}"
    return f"char={place.start},{place.end}"


def _table_citation(table: Table, found: Found, copies: tuple[tuple[str, str], ...]) -> Citation:
    """The table's own place; of a long one the quote is its beginning, and the label still names all of it."""
    end = table.end
    if end - table.start > _QUOTED:
        ends = [row_end for _, row_end in table.rows if row_end - table.start <= _QUOTED]
        end = ends[-1] if ends else table.rows[0][1]
    minted = _minted(table, found, 1, table.start, end)
    whole = locate(table.document, table.start, table.end)
    return replace(minted, label=label(table.document, whole, found.stored.chunk.section), duplicates=copies)


def _row_citation(table: Table, found: Found, marker: int, row: int) -> Citation:
    return _minted(table, found, marker, *table.rows[row])


def _minted(table: Table, found: Found, marker: int, start: int, end: int) -> Citation:
    return mint(Passage(marker, found.stored, table.document, start, end, found.hit))
