"""No document crowds out the rest, and none is cut while nobody else has something to say."""

from __future__ import annotations

from fonte.ranking.diversity import Group
from fonte.retrieve import RetrievalSettings, _shared_out

GROUPS = [Group(str(number), "long", number, number + 1, (str(number),)) for number in range(5)]
OTHER = Group("e", "other", 0, 5, ("e",))


def _kept(k: int, per_document: int) -> list[str]:
    settings = RetrievalSettings(k=k, per_document=per_document)
    return [group.key for group in _shared_out([*GROUPS, OTHER], settings)]


def test_a_document_has_its_share_first() -> None:
    assert _kept(3, 2) == ["0", "1", "e"]


def test_what_is_over_its_share_comes_after_the_others() -> None:
    assert _kept(5, 2) == ["0", "1", "e", "2", "3"]


def test_0_is_no_cap() -> None:
    assert _kept(5, 0) == ["0", "1", "2", "3", "4"]
