"""Tables that table questions are asked of, made the same each time, and what is true of them by plain Python.

The truth is worked out from the rows before they are written, by loops that share nothing with fonte.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from io import BytesIO
from pathlib import Path

SEED = 20261130
ORDERS = 100_000
MISSING, LARGE, DEEP = 0.01, 19_000, 100
"""Share of orders without an amount, and what questions compare with."""
CITIES = ("Cremona", "Udine", "Exeter", "Mantova", "Brescia")
STATES = ("open", "paid", "cancelled")
STOCK = [
    ("Guanti in nitrile", "Protezione", 1250, "12,50", "31/03/2027", "Alfa"),
    ("Guanti in nitrile", "Protezione", 1250, "12,50", "31/03/2027", "Alfa"),
    ("Occhiali", "Protezione", 85, "7,90", "", "Beta"),
    ("Acetone", "Solventi", 40, "18,00", "15/01/2027", "Gamma"),
    ("Metanolo", "Solventi", 36, "1.120,75", "04/02/2027", "Gamma"),
    ("Esano", "Solventi", 0, "22,40", "30/11/2026", ""),
    ("Piastre", "Microbiologia", 2400, "0,35", "20/12/2026", "Delta"),
    ("Brodo di coltura", "Microbiologia", 310, "n.d.", "12/05/2027", "Delta"),
]
VANS = [
    ("CR-101", "Cremona", 84000),
    ("CR-102", "Cremona", 12500),
    ("UD-201", "Udine", 99100),
    ("EX-301", "Exeter", 45),
]
OLD_VANS = [("CR-001", "Cremona", 301000, "sold"), ("UD-002", "Udine", 288000, "scrapped")]
COSTS = [("Hotel", 1200), ("Treno", 350), ("Pasti", 480)]
WEIGHTS = [("Cooler", "3 kg"), ("Ice pack", "500 g"), ("Rack", "2 kg")]
FLOWS = [("North", "1.250"), ("South", "2.500"), ("East", "3.750")]
CUSTOMERS = [("C1", "Rossi", "R1"), ("C2", "Bianchi", "R2"), ("C3", "Rossi", "R1")]
REGIONS = [("R1", "Lombardy"), ("R2", "Friuli")]
SHIFTS = [("Monday", "day", "3"), ("Tuesday", "night"), ("Wednesday", "day", "4")]


def make_tables(folder: Path, orders: int = ORDERS) -> Mapping[str, str]:
    """Write every file to the folder, with so many orders; what is true of them, by name."""
    folder.mkdir(parents=True, exist_ok=True)
    truth = _orders(folder / "orders.csv", orders)
    stock = ["Articolo", "Categoria", "Quantità", "Prezzo", "Scadenza", "Fornitore"]
    _csv(folder / "inventario-magazzino.csv", ";", stock, STOCK)
    _csv(folder / "river-flows.csv", ",", ["Station", "Flow"], FLOWS)
    _csv(folder / "customers.csv", ",", ["Customer", "Name", "Region code"], CUSTOMERS)
    _csv(folder / "regions.csv", ",", ["Region code", "Region"], REGIONS)
    _csv(folder / "shifts.csv", ",", ["Day", "Shift", "People"], SHIFTS)
    rows = "\n".join(f"| {name} | {weight} |" for name, weight in WEIGHTS)
    (folder / "packing-list.md").write_text(f"# Packing list\n\n| Piece | Weight |\n| --- | --- |\n{rows}\n", "utf-8")
    _fleet(folder / "fleet.xlsx")
    _costs(folder / "spese-trasferta.xlsx")
    return truth | _wells(folder / "wells.pdf")


def _csv(path: Path, delimiter: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(header)
        writer.writerows(rows)


def _orders(path: Path, orders: int) -> dict[str, str]:
    rng = random.Random(SEED)  # noqa: S311 - the same table each time
    first = date(2024, 1, 1)
    rows = []
    for number in range(1, orders + 1):
        cents = rng.randrange(100, 2_000_000)
        amount = "" if rng.random() < MISSING else f"{cents // 100:,}.{cents % 100:02}"
        day = first + timedelta(days=rng.randrange(1096))
        rows.append((f"ORD-{number:06}", rng.choice(CITIES), rng.choice(STATES), amount, day.isoformat()))
    _csv(path, ",", ["Order", "City", "Status", "Amount", "Ordered on"], rows)
    money = {row[0]: Decimal(str(row[3]).replace(",", "")) for row in rows if row[3]}
    udine = [row for row in rows if row[1] == "Udine" and row[2] == "paid"]
    values = sorted(money[row[0]] for row in udine if row[0] in money)
    half = len(values) // 2
    middle = values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2
    best = max(money.values())
    return {
        "orders": str(len(rows)),
        "orders_udine_paid": str(len(udine)),
        "orders_2025": str(sum(row[4].startswith("2025") for row in rows)),
        "orders_exeter_total": str(sum(money[row[0]] for row in rows if row[1] == "Exeter" and row[0] in money)),
        "orders_udine_paid_median": str(middle),
        "orders_highest": str(best),
        "orders_over_19000": str(sum(value > LARGE for value in money.values())),
        "orders_not_cancelled": str(sum(row[2] != "cancelled" for row in rows)),
        "orders_before_march_2024": str(sum(row[4] < "2024-03-01" for row in rows)),
        "orders_no_amount": str(sum(not row[3] for row in rows)),
    }


def _fleet(path: Path) -> None:
    from openpyxl import Workbook

    book = Workbook()
    sheet = book.active
    sheet.title = "Vans"
    sheet.append(["Fleet of vans"])
    for row in [("Plate", "Site", "Kilometres"), *VANS]:
        sheet.append(row)
    hidden = book.create_sheet("Old vans")
    hidden.sheet_state = "hidden"
    for row in [("Plate", "Site", "Kilometres", "Fate"), *OLD_VANS]:
        hidden.append(row)
    _saved(book, path)


def _costs(path: Path) -> None:
    from openpyxl import Workbook

    book = Workbook()
    book.active.title = "Spese"
    for row in [("Voce", "Importo"), *COSTS, ("Totale", sum(cost for _, cost in COSTS))]:
        book.active.append(row)
    _saved(book, path)


def _saved(book: object, path: Path) -> None:
    out = BytesIO()
    book.save(out)  # type: ignore[attr-defined]  # openpyxl has no types
    path.write_bytes(out.getvalue())


def _wells(path: Path) -> dict[str, str]:
    """A ruled table over three pages, its names repeated on each."""
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import Paragraph, SimpleDocTemplate, Table

    rng = random.Random(SEED)  # noqa: S311 - the same table each time
    rows = [(f"W-{number:03}", rng.choice(CITIES[:2]), str(rng.randrange(5, 180))) for number in range(1, 91)]
    grid = Table([("Well", "Town", "Depth"), *rows], repeatRows=1, style=[("GRID", (0, 0), (-1, -1), 0.5, "black")])
    title = Paragraph("Register of wells", getSampleStyleSheet()["Title"])
    SimpleDocTemplate(str(path), pagesize=A4, invariant=1).build([title, grid])
    deep = [int(row[2]) for row in rows]
    return {
        "wells": str(len(rows)),
        "wells_cremona_depth": str(sum(int(row[2]) for row in rows if row[1] == "Cremona")),
        "wells_over_100": str(sum(value > DEEP for value in deep)),
    }
