"""The search form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fonte.text.normalise import search_form


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("o\ufb03ce", "office"),
        ("co\u00adoperate", "cooperate"),
        ("co\u00ad\n operate", "cooperate"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("interna-\ntional", "international"),
        ("interna\u2010\r\n  tional", "international"),
        ("well-\nknown", "well-known"),
        ("Franco-\nPrussian", "Franco-Prussian"),
        ("“l’ufficio” – qui", '"l\'ufficio" - qui'),
        (" a\t b\n\nc ", "a b c"),
        ("ｆｕｌｌ　ｗｉｄｔｈ", "full width"),
        ("e\u0301", "é"),
    ],
)
def test_forms(text: str, wanted: str) -> None:
    assert search_form(text) == wanted


def test_a_vocabulary_decides() -> None:
    assert search_form("co-\noperate", {"co-operate"}) == "co-operate"
    assert search_form("self-\nish", {"selfish"}) == "selfish"


@given(st.text(max_size=80))
def test_white_space_is_single_and_the_form_is_stable(text: str) -> None:
    form = search_form(text)
    assert form == " ".join(form.split())
    assert search_form(form) == form
