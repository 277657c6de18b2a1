"""LanceDB is imported cheaply, and what is put off is done when it is used."""

from __future__ import annotations

import subprocess
import sys

import pydantic
import pytest

from fonte.stores.lance_start import lancedb

LATER = """
import sys
from fonte.stores.lance_start import lancedb
import pydantic
before = pydantic.validate_call, pydantic.ConfigDict
lancedb()
assert (pydantic.validate_call, pydantic.ConfigDict) == before
from lance_namespace_urllib3_client.api.table_api import TableApi
from lance_namespace_urllib3_client.models import QueryTableRequest, TableExistsRequest
assert not TableExistsRequest.__pydantic_complete__
TableExistsRequest(id=["one"])
assert TableExistsRequest.__pydantic_complete__
for wrong in (lambda: TableExistsRequest(id=3), lambda: TableApi.table_exists(object(), id=3, table_exists_request=4)):
    try:
        wrong()
    except pydantic.ValidationError:
        continue
    raise SystemExit("a wrong argument went through")
"""


def test_models_are_built_on_first_use_and_still_refuse_wrong_values() -> None:
    done = subprocess.run([sys.executable, "-c", LATER], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_pydantic_is_as_it_was_even_when_the_import_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    from fonte.stores import lance_start

    before = pydantic.validate_call, pydantic.ConfigDict
    for name in [one for one in sys.modules if one.split(".")[0] in ("lancedb", lance_start._CLIENT)]:
        monkeypatch.delitem(sys.modules, name)

    def broken(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(lance_start, "import_module", broken)
    with pytest.raises(ImportError):
        lancedb()
    assert (pydantic.validate_call, pydantic.ConfigDict) == before
