"""A question's words: the terms that stand for each, in its own language and across, and how rare it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from fonte.protocols import Terms
from fonte.ranking.evidence import WORD, Word, inverse_document_frequency
from fonte.store_protocols import IndexReader
from fonte.types import UNKNOWN_LANGUAGE, Language, Query, StoredChunk


def question_words(query: Query, terms: Terms, frequencies: Mapping[str, int], documents: int) -> list[Word]:
    """The words of a question that say something, each with the terms that stand for it and its idf.

    A word is as rare as the commonest of its terms (its stem) in its own language; with no frequencies all words weigh
    the same. Its translations, which passages in another language may hold instead, do not change that.
    """
    wanted = set(terms.query_terms(query.text, query.languages))
    words = []
    for match in WORD.finditer(query.text):
        own = frozenset(terms.query_terms(match.group(), query.languages)) & wanted
        if own:
            commonest = max(frequencies.get(term, 0) for term in own)
            weight = inverse_document_frequency(commonest, documents)
            across = terms.terms_across(match.group(), query.languages).values()
            words.append(Word(match.group(), own.union(*across), weight))
    return words


def weighted_words(query: Query, terms: Terms, reader: IndexReader) -> list[Word]:
    """The question's words with their idf among the generation's chunks."""
    frequencies = reader.document_frequencies(terms.query_terms(query.text, query.languages))
    return question_words(query, terms, frequencies, max(reader.generation.chunks, 1))


def speaks_of(query: Query, terms: Terms) -> Callable[[StoredChunk], bool]:
    """Whether a chunk holds one of the words that the question requires, by stem or translation; with none it does.

    Names of its document and sections count. A chunk in a language that the glossary translates none of them to does,
    unless they are names: it may say it in its own words.
    """
    text = " ".join(query.required)
    own = replace(query, text=text) if text.strip() else query
    wanted = {term for word in question_words(own, terms, {}, 1) for term in word.terms}
    name = all(word[:1].isupper() or any(map(str.isdigit, word)) for word in query.required)

    translated = {language for language, found in terms.terms_across(text, query.languages).items() if found}
    near = {*query.languages, UNKNOWN_LANGUAGE, *translated}

    def holds(stored: StoredChunk) -> bool:
        chunk = stored.chunk
        if not wanted or not query.required or (query.languages and chunk.language not in near and not name):
            return True
        around = "\n".join((stored.document_name, *chunk.section, chunk.text))
        return bool(wanted & terms_of(terms, around, query, chunk.language))

    return holds


def terms_of(terms: Terms, text: str, query: Query, language: Language) -> set[str]:
    """Terms of a passage's text, read in its own language and in those that the question may be in."""
    read = dict.fromkeys([language, *query.languages] if query.languages else [language, UNKNOWN_LANGUAGE])
    return {term for one in read for term in terms.document_terms(text, one)}
