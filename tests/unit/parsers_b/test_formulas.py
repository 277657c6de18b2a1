"""Formulas of Word and PowerPoint as LaTeX: what is above, below and under a root stays there."""

from __future__ import annotations

import pytest
from lxml import etree
from unit.parsers_c.pptx_making import deck, shape, slide

from fonte.parsers.formulas import formula
from fonte.parsers.registry import parse_body
from fonte.types import Acl, Source, sha256_hex

M = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'


def r(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


def e(*inside: str, tag: str = "e") -> str:
    return f"<m:{tag}>{''.join(inside)}</m:{tag}>"


def power(base: str, above: str) -> str:
    return f"<m:sSup><m:sSupPr><m:ctrlPr/></m:sSupPr>{e(r(base))}{e(r(above), tag='sup')}</m:sSup>"


def said(inside: str) -> str:
    return formula(etree.fromstring(f"<m:oMath {M}>{inside}</m:oMath>"))


UNDER = f"<m:rad><m:radPr/><m:deg/>{e(power('b', '2'), r('-4ac'))}</m:rad>"
ROOT = f"{r('x=')}<m:f>{e(r('-b±'), UNDER, tag='num')}{e(r('2a'), tag='den')}</m:f>"
SUM = '<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr>'


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        (r("F=ma"), "F=ma"),
        (r("A=π") + power("r", "2"), "$A=πr^{2}$"),
        (ROOT, r"$x=\frac{-b±\sqrt{b^{2}-4ac}}{2a}$"),
        (f"<m:rad>{e(r('3'), tag='deg')}{e(r('y'))}</m:rad>", r"$\sqrt[3]{y}$"),
        (f"<m:sSub>{e(r('x'))}{e(r('i'), tag='sub')}</m:sSub>", "$x_{i}$"),
        (
            f"{SUM}{e(r('k=0'), tag='sub')}{e(r('n'), tag='sup')}{e(r('k'))}</m:nary>",
            r"$\sum_{k=0}^{n}{k}$",
        ),
        (f"<m:d>{e(r('a'))}{e(r('b'))}</m:d>", "(a|b)"),
        (f'<m:d><m:dPr><m:begChr m:val="["/><m:endChr m:val=""/></m:dPr>{e(r("a"))}</m:d>', "[a"),
        (f"<m:func>{e(r('log'), tag='fName')}<m:e><m:d>{e(r('x'))}</m:d></m:e></m:func>", r"$\log(x)$"),
        (f"<m:limLow>{e(r('lim'))}{e(r('n→∞'), tag='lim')}</m:limLow>", "$lim_{n→∞}$"),
        (f'<m:acc><m:accPr><m:chr m:val="\u20d7"/></m:accPr>{e(r("v"))}</m:acc>', r"$\vec{v}$"),
        (f"<m:m><m:mr>{e(r('1'))}{e(r('0'))}</m:mr></m:m>", r"$\begin{matrix}1 & 0\end{matrix}$"),
        (
            f'<m:f><m:fPr><m:type m:val="noBar"/></m:fPr>{e(r("n"), tag="num")}{e(r("k"), tag="den")}</m:f>',
            r"$\binom{n}{k}$",
        ),
        (f"<m:unknown>{r('kept')}</m:unknown>", "kept"),
        (f"<m:sSup>{e(r('(a+b)'))}{e(r('2'), tag='sup')}</m:sSup>", "$(a+b)^{2}$"),
        (f"<m:sSup>{e(r('a+b'))}{e(r('2'), tag='sup')}</m:sSup>", "${a+b}^{2}$"),
    ],
)
def test_structure_is_spelled(inside: str, expected: str) -> None:
    assert said(inside) == expected


def test_what_is_very_deep_keeps_its_text() -> None:
    assert "deep" in said("<m:e><m:rad><m:e>" * 70 + r("deep") + "</m:e></m:rad></m:e>" * 70)


def test_a_formula_on_a_slide() -> None:
    drawn = (
        '<mc:AlternateContent><mc:Choice Requires="a14"><a14:m xmlns:a14="urn:a14">'
        f"<m:oMath {M}>{r('E=m')}{power('c', '2')}</m:oMath></a14:m></mc:Choice></mc:AlternateContent>"
    )
    body = deck(slide(shape(drawn)))
    parsed = parse_body(Source("u", "a.pptx", sha256_hex(body), Acl(), body=body))
    assert parsed.blocks[-1].text == "$E=mc^{2}$"
