from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from served import House, make_house


@pytest.fixture
def house(home: Path) -> Iterator[House]:
    made = make_house(home)
    yield made
    made.served.corpus.close()
