from __future__ import annotations

import re
from collections.abc import Iterator
from http import HTTPStatus

import pytest

from fonte import errors
from fonte.errors import FonteError, GateFailed, InputError, ParseError


def tree(root: type[FonteError]) -> Iterator[type[FonteError]]:
    yield root
    for child in root.__subclasses__():
        yield from tree(child)


EVERY = [kind for kind in tree(FonteError) if kind.__module__ == errors.__name__]


def test_each_error_has_a_code_of_its_own() -> None:
    codes = [kind.code for kind in EVERY]
    assert len(set(codes)) == len(codes)
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", code) for code in codes)


@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.__name__)
def test_statuses_are_those_of_the_contract(kind: type[FonteError]) -> None:
    assert kind.exit_status in {1, 2}
    assert HTTPStatus(kind.http_status) >= HTTPStatus.BAD_REQUEST
    assert issubclass(kind, FonteError)
    # What a later try may mend is never the caller's mistake.
    assert not (kind.retryable and kind.exit_status == 2)


@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.__name__)
def test_an_error_says_what_to_do_next_where_it_was_raised_or_by_its_kind(kind: type[FonteError]) -> None:
    error = kind("what and where", hint="what to do")
    assert (error.message, error.hint, str(error)) == ("what and where", "what to do", "what and where")
    assert kind("x").hint == kind.next_step != ""


def test_the_tree_in_the_docstring_is_the_tree() -> None:
    drawn = errors.__doc__ or ""
    for kind in EVERY:
        code = "" if kind in {FonteError, InputError} else rf"\s+{kind.code}\b"
        assert re.search(rf"\b{kind.__name__}{code}", drawn), kind
    # And nothing is drawn that is not there.
    names = {kind.__name__ for kind in EVERY}
    assert set(re.findall(r"── ([A-Za-z]+)", drawn)) == names - {"FonteError"}


def test_absent_and_forbidden_are_one_error() -> None:
    assert not [kind for kind in EVERY if "forbidden" in kind.code or "denied" in kind.code]


def test_parse_and_gate_errors_say_where_and_why() -> None:
    assert (ParseError("x", uri="file:a", page=3).uri, ParseError("x", page=3).page) == ("file:a", 3)
    assert GateFailed("x", report=("recall@5 .70 below .80",)).report == ("recall@5 .70 below .80",)
