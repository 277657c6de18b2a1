"""The fixture that fails a test by what its page complains of: it hears each kind of complaint."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from opened import Heard, drawings, out_of_reach, pale, sticking_out


@pytest.mark.parametrize(
    ("body", "heard"),
    [
        ("<p>nothing</p>", []),
        ("<script>console.error('oh')</script>", ["console error: oh"]),
        ("<script>console.log('hm')</script>", ["console log: hm"]),
        ("<script>throw new Error('no')</script>", ["error: no"]),
        ("<script>alert(1)</script>", ["dialog: 1"]),
        ("<img src='http://example.org/x.png'>", ["request: http://example.org", "failed: http://example.org"]),
        ("<img src='x.png'>", ["request: file:", "failed: file:"]),
    ],
)
def test_a_page_that_complains_is_heard(browser: Browser, tmp_path: Path, body: str, heard: list[str]) -> None:
    path = tmp_path / "page.html"
    path.write_text(f"<!DOCTYPE html><title>t</title>{body}")
    with browser.new_context() as context:
        page = context.new_page()
        listener = Heard(page)
        page.goto(path.as_uri())
    assert len(listener.faults) >= len(heard)
    assert bool(listener.faults) is bool(heard)
    for beginning in heard:
        assert any(one.startswith(beginning) for one in listener.faults), listener.faults


def test_what_is_cut_crossed_pale_or_too_wide_is_found(browser: Browser) -> None:
    with browser.new_context(viewport={"width": 380, "height": 600}) as context:
        page = context.new_page()
        page.set_content(
            "<body style='margin:0'><p style='color:#999'>grey</p><div style='width:500px'>wide</div>"
            "<svg width=200 height=100><text x=5 y=50>one</text><text x=8 y=50>two</text>"
            "<text x=180 y=90>beyond</text></svg>"
            "<div style='width:50px;overflow:hidden'><table><tr><td>there<td>hidden there</table></div>"
        )
        assert [one.split()[1] for one in pale(page)] == ["grey"]
        assert sticking_out(page) == ["DIV: wide"]
        assert out_of_reach(page) == ["hidden there"]
        assert (drawings(page)[0]["cut"], drawings(page)[0]["over"]) == (["beyond"], ["one / two"])
