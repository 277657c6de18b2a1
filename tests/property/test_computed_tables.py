"""Random tables and random conditions: what is computed is what plain Python loops give, or it is refused."""

from __future__ import annotations

import csv
import io
from datetime import date
from decimal import Decimal

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fonte.computed.grid import Table, outlines, read_table
from fonte.computed.query import Refused, Result, compute
from fonte.computed.question import read_question
from fonte.computed.reading import Plan, plan_of
from fonte.parsers.registry import parse_body
from fonte.text.canonical import canonicalise
from fonte.types import Acl, Source, sha256_hex

CITIES = ("Udine", "Cremona", "Exeter")
STATES = ("open", "paid", "late")
HEADER = ("Parcel", "City", "State", "Weight", "Sent")
Row = tuple[str, str, str, str, str]

amounts = st.one_of(st.just(""), st.integers(-(10**7), 10**7).map(lambda cents: f"{Decimal(cents).scaleb(-2):,}"))
rows = st.lists(
    st.tuples(
        st.sampled_from(CITIES),
        st.sampled_from(STATES),
        amounts,
        st.dates(date(2024, 1, 1), date(2026, 12, 31)).map(date.isoformat),
    ),
    min_size=2,
    max_size=30,
).map(lambda found: [(f"P-{number:04}", *row) for number, row in enumerate(found)])


def table_of(found: list[Row]) -> Table:
    out = io.StringIO()
    csv.writer(out).writerows([HEADER, *found])
    body = out.getvalue().encode()
    source = Source("mem:parcels.csv", "parcels.csv", sha256_hex(body), Acl(frozenset({"public"})), body=body)
    document = canonicalise(parse_body(source), source, tenant="t")
    return read_table(document, next(outlines(document)))


def asked(question: str, found: list[Row]) -> Result:
    plan = plan_of(read_question(question, "en"), table_of(found))
    assert isinstance(plan, Plan), (question, plan)
    return compute(plan)


def weight(row: Row) -> Decimal | None:
    return Decimal(row[3].replace(",", "")) if row[3] else None


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(rows, st.sampled_from(CITIES), st.sampled_from(STATES), st.integers(-90_000, 90_000))
def test_counts_under_conditions_are_those_of_a_loop(found: list[Row], city: str, state: str, bound: int) -> None:
    held = [row for row in found if row[1] == city and row[2] == state]
    if held:
        assert asked(f"How many {state} parcels are in {city}?", found).value == len(held)
    others = [row for row in found if row[2] != state]
    if len(others) < len(found):
        assert asked(f"How many parcels are not {state}?", found).value == len(others)
    if any(row[3] for row in found):
        over = [row for row in found if (own := weight(row)) is not None and own > abs(bound)]
        assert asked(f"How many parcels have a weight over {abs(bound):,}?", found).value == len(over)
    assert asked("How many parcels were sent in 2025?", found).value == sum(row[4][:4] == "2025" for row in found)
    early = sum(row[4] < "2025-03-01" for row in found)
    assert asked("How many parcels were sent before March 2025?", found).value == early


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(rows, st.sampled_from(CITIES))
def test_sums_and_extremes_are_those_of_a_loop(found: list[Row], city: str) -> None:
    own = [value for row in found if row[1] == city and (value := weight(row)) is not None]
    if not own:
        return
    where = f"weight of the parcels in {city}"
    assert asked(f"What is the total {where}?", found).value == sum(own)
    assert asked(f"What is the highest {where}?", found).value == max(own)
    assert asked(f"What is the lowest {where}?", found).value == min(own)
    average = asked(f"What is the average {where}?", found)
    assert isinstance(average.value, Decimal)
    assert abs(average.value * len(own) - sum(own)) <= Decimal("0.0001") * len(own)
    assert average.rounded == (average.value * len(own) != sum(own))
    ordered = sorted(own)
    middle = (ordered[(len(own) - 1) // 2] + ordered[len(own) // 2]) / 2
    assert asked(f"What is the median {where}?", found).value == middle


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(rows, st.sampled_from(["purple", "heavy", "each", "only", "twice", "unless late"]))
def test_a_word_that_is_not_understood_is_never_passed_over(found: list[Row], word: str) -> None:
    plan = plan_of(read_question(f"How many {word} parcels are in Udine?", "en"), table_of(found))
    assert not isinstance(plan, Plan)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from("1.250 2.500 12,5 3_kg 500_g n/a _ many".split()), min_size=2, max_size=6))
def test_columns_of_more_than_one_reading_unit_or_kind_are_never_added_up(cells: list[str]) -> None:
    cells = [cell.replace("_", " ").strip() for cell in cells]
    found = [(f"P-{at}", "Udine", "open", cell, "2025-01-01") for at, cell in enumerate(cells)]
    plan = plan_of(read_question("What is the total weight of the parcels?", "en"), table_of(found))
    if not isinstance(plan, Plan):
        return
    said = {cell for cell in cells if cell not in ("", "n/a")}
    plain = said <= {"1.250", "2.500", "12,5"} and "12,5" in said
    one_unit = said in ({"3 kg"}, {"500 g"})
    try:
        value = compute(plan).value
    except Refused:
        assert not (plain or one_unit)
        return
    assert plain or one_unit
    meant = {"1.250": 1250, "2.500": 2500, "12,5": Decimal("12.5"), "3 kg": 3, "500 g": 500}
    assert value == sum(meant[cell] for cell in cells if cell in meant)
