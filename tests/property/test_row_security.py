"""Tenants in PostgreSQL are apart: whatever is asked through the application's role, and whoever asks."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pg8000.native
import pytest
from contract.catalogs import postgres_catalog
from contract.store_making import RECIPE, building, document, random_units, sealed, stored
from postgres_server import APPLICATION, Server

from fonte.stores.postgres.address import Address
from fonte.stores.postgres.index import PostgresIndex
from fonte.stores.postgres.pool import Pool
from fonte.types import GenerationState, Principal, Query

TENANTS = ["acme", "default", "o'brien; DROP", "città 😀", "x" * 80]
OPEN = {"versions"}
"""Tables of no one's data: which migrations were applied."""
TABLES = """
SELECT c.relname, c.relrowsecurity AND c.relforcerowsecurity, pg_get_userbyid(c.relowner),
    array(SELECT pg_get_expr(p.polqual, p.polrelid) || ' / ' || coalesce(pg_get_expr(p.polwithcheck, p.polrelid), '')
          FROM pg_policy p WHERE p.polrelid = c.oid ORDER BY 1)
FROM pg_class c WHERE c.relnamespace = 'fonte'::regnamespace AND c.relkind IN ('r', 'p') ORDER BY 1
"""
KEYS = """
SELECT i.indrelid::regclass::text, i.indexrelid::regclass::text, a.attname FROM pg_index i
JOIN pg_class c ON c.oid = i.indrelid JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
WHERE c.relnamespace = 'fonte'::regnamespace AND c.relkind IN ('r', 'p')
"""
REFERENCES = """
SELECT conrelid::regclass::text, conname,
    (SELECT attname FROM pg_attribute WHERE attrelid = conrelid AND attnum = conkey[1]),
    (SELECT attname FROM pg_attribute WHERE attrelid = confrelid AND attnum = confkey[1])
FROM pg_constraint WHERE contype = 'f' AND connamespace = 'fonte'::regnamespace
"""
COLUMNS = """
SELECT a.attname, format_type(a.atttypid, NULL), a.attnotnull AND a.attidentity = '' AND a.attgenerated = '',
    (SELECT string_agg(pg_get_constraintdef(k.oid), ' ') FROM pg_constraint k
     WHERE k.conrelid = a.attrelid AND k.contype = 'c' AND k.conkey @> ARRAY[a.attnum])
FROM pg_attribute a WHERE a.attrelid = CAST(:table AS regclass) AND a.attnum > 0 AND NOT a.attisdropped
"""


def _value(kind: str, check: str | None, tenant: str, column: str) -> str:
    if column == "tenant":
        return pg8000.native.literal(tenant)
    if check and (chosen := re.search(r"ANY \(ARRAY\['(\w+)'|= (\d+)", check)):
        return f"'{chosen[1]}'" if chosen[1] else chosen[2]
    if kind.startswith("vector"):
        return "'[1,0,0]'"
    if kind.endswith("[]"):
        return f"CAST('{{}}' AS {kind})"
    number = {"bigint", "integer", "smallint", "real", "double precision"}
    return "1" if kind in number else {"bytea": "'\\x00'", "boolean": "true"}.get(kind, pg8000.native.literal(tenant))


@pytest.fixture(scope="module")
def tables(postgres_server: Server, postgres_module_url: str) -> list[str]:
    """Every table that is guarded, after each tenant has a row in each."""
    name = Address.of(postgres_module_url).database
    with postgres_server.connected(name) as connection:
        found = [row[0] for row in connection.run(TABLES) if row[0] not in OPEN]
        connection.run("SET session_replication_role = replica")  # rows of their own: references are not looked at
        for table in found:
            columns = [one for one in connection.run(COLUMNS, table=f"fonte.{table}") if one[2]]
            for tenant in TENANTS:
                names = ", ".join(pg8000.native.identifier(one[0]) for one in columns)
                values = ", ".join(_value(one[1], one[3], tenant, one[0]) for one in columns)
                connection.run(f"INSERT INTO fonte.{table} ({names}) VALUES ({values}) ON CONFLICT DO NOTHING")
        for table in found:
            rows = connection.run(f"SELECT count(*) FROM fonte.{table}")[0][0]
            assert rows >= len(TENANTS), table
    return found


@pytest.fixture
def raw(postgres_module_url: str) -> Iterator[Any]:
    """The application's login with nothing of fonte's between."""
    address = Address.of(postgres_module_url)
    one = pg8000.native.Connection(APPLICATION, database=address.database, unix_sock=address.socket)
    one.run("SET search_path = fonte, public")
    yield one
    one.close()


def of_tenants(tables: list[str], raw: Any) -> list[str]:
    rows = raw.run(
        "SELECT c.relname FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid"
        " WHERE pg_get_expr(p.polqual, p.polrelid) LIKE '(tenant = %'"
    )
    return [row[0] for row in rows if row[0] in tables]


# --- by construction -------------------------------------------------------------------------------------------------


def test_every_table_has_a_policy_and_another_owner(postgres_server: Server, postgres_module_url: str) -> None:
    name = Address.of(postgres_module_url).database
    found = {row[0]: row[1:] for row in postgres_server.run(TABLES, database=name)}
    assert len(found) > 20
    for table, (forced, owner, policies) in found.items():
        assert owner not in ("fonte_app", APPLICATION), table
        if table in OPEN:
            continue
        assert forced, f"{table} has no row-level security: SELECT fonte.guard('{table}') in its migration"
        assert policies, table
        for policy in policies:
            using, _, checked = policy.partition(" / ")
            assert using == checked, table
            assert "fonte.current_tenant()" in using or "fonte.system" in using, table
    tenants = {table for table, (_, _, policies) in found.items() if any("(tenant = " in one for one in policies)}
    for table, index, first in postgres_server.run(KEYS, database=name):
        if table.removeprefix("fonte.") in tenants:
            assert first == "tenant", f"{index} does not begin with the tenant"
    for table, reference, ours, theirs in postgres_server.run(REFERENCES, database=name):
        assert (ours, theirs) == ("tenant", "tenant"), f"{reference} of {table} may lead to another tenant"
    hidden = postgres_server.run(
        "SELECT proname FROM pg_proc WHERE pronamespace = 'fonte'::regnamespace AND prosecdef"
        " UNION SELECT relname FROM pg_class WHERE relnamespace = 'fonte'::regnamespace AND relkind IN ('v', 'm', 'f')",
        database=name,
    )
    assert hidden == [], "what runs as its owner passes over the policies"


def test_the_application_is_no_superuser_and_may_change_no_table(raw: Any, tables: list[str]) -> None:
    told = raw.run(
        "SELECT rolsuper OR rolbypassrls OR rolcreaterole FROM pg_roles WHERE rolname IN ('fonte_app', 'fonte_login')"
    )
    assert told == [[False], [False]]
    for statement in (
        "SET ROLE postgres",
        "SET ROLE fonte_owner",
        "CREATE TABLE fonte.mine (a bigint)",
        f"ALTER TABLE {tables[0]} DISABLE ROW LEVEL SECURITY",
        f"DROP POLICY of_tenant ON {tables[0]}",
        f"TRUNCATE {tables[0]}",
        f"COPY {tables[0]} TO '/tmp/out'",
        "SELECT fonte.guard('meta')",
        "SELECT fonte.begin_version(99, 'x')",
        "INSERT INTO versions (version, name) VALUES (99, 'x')",
    ):
        with pytest.raises(pg8000.exceptions.DatabaseError):
            raw.run(statement)


def test_without_a_tenant_nothing_is_seen_added_or_changed(raw: Any, tables: list[str]) -> None:
    for setting in ("tenant = DEFAULT", "tenant = ''", "system = 'off'", "tenant = 'nobody'"):
        raw.run(f"SET fonte.{setting}")
        for table in tables:
            assert raw.run(f"SELECT count(*) FROM {table}") == [[0]], table
            assert raw.run(f"DELETE FROM {table} RETURNING 1") == [], table
    raw.run("RESET fonte.tenant")
    for table in of_tenants(tables, raw):
        with pytest.raises(pg8000.exceptions.DatabaseError):
            raw.run(f"INSERT INTO {table} DEFAULT VALUES")
        with pytest.raises(pg8000.exceptions.DatabaseError, match=r"row_security|row-level"):
            raw.run("SET row_security = off")
            raw.run(f"SELECT count(*) FROM {table}")
        raw.run("SET row_security = on")


SHAPES = (
    "SELECT tenant FROM {0}",
    "SELECT tenant FROM {0} WHERE tenant = '{1}' OR true",
    "SELECT a.tenant FROM {0} a UNION ALL SELECT b.tenant FROM {2} b",
    "SELECT b.tenant FROM {0} a RIGHT JOIN {2} b ON true",
    "WITH all_of AS MATERIALIZED (SELECT * FROM {0}) SELECT tenant FROM all_of",
    "SELECT (SELECT max(tenant) FROM {2}) FROM {0}",
    "SELECT tenant FROM {0} WHERE EXISTS (SELECT FROM {2} WHERE {2}.tenant <> {0}.tenant)",
    "SELECT x.tenant FROM (SELECT tenant, row_number() OVER () FROM {0}) x",
    "SELECT y FROM {0}, LATERAL (SELECT tenant AS y FROM {2} LIMIT 3) l",
    "DELETE FROM {0} WHERE true RETURNING tenant",
    "UPDATE {0} SET tenant = tenant RETURNING tenant",
)


def test_a_thousand_hand_written_statements_see_their_tenant_alone(raw: Any, tables: list[str]) -> None:
    draw, own = random.Random(7), of_tenants(tables, raw)
    assert len(own) > 20
    seen = 0
    for _ in range(1000):
        tenant = draw.choice([*TENANTS, "nobody", "acme' OR 'a'='a", ""])
        other = draw.choice([one for one in TENANTS if one != tenant])
        one, two = draw.choice(own), draw.choice(own)
        shape = draw.choice(SHAPES).format(one, other.replace("'", "''"), two)
        raw.run("BEGIN")
        raw.run(
            "SELECT set_config('fonte.tenant', :tenant, true), set_config('fonte.system', 'on', true)", tenant=tenant
        )
        rows = raw.run(shape)
        raw.run("ROLLBACK")
        assert {row[0] for row in rows} <= {tenant, None}, shape
        seen += len(rows)
    assert seen > 500


def test_no_row_goes_to_another_tenant(raw: Any, tables: list[str]) -> None:
    for table in of_tenants(tables, raw):
        raw.run("BEGIN")
        raw.run("SELECT set_config('fonte.tenant', 'acme', true)")
        with pytest.raises(pg8000.exceptions.DatabaseError, match="row-level security"):
            raw.run(f"UPDATE {table} SET tenant = 'default'")
        raw.run("ROLLBACK")


# --- principals ------------------------------------------------------------------------------------------------------

ROLES = ["public", "staff", "hr", "legal", "user:ada"]
WORDS = ["pump", "valve", "hall", "hotel"]


def test_a_thousand_principals_find_what_they_may_read_and_nothing_else(postgres_url: str) -> None:
    draw, pool = random.Random(11), Pool(postgres_url)
    made: dict[str, Any] = {}
    rights: dict[str, dict[str, frozenset[str]]] = {}
    for number, tenant in enumerate(TENANTS):
        catalog, index = postgres_catalog(pool, tenant), PostgresIndex(pool, tenant, exact_rows=10_000)
        roles = {f"t{number}d{one}": frozenset(draw.sample(ROLES, draw.randint(0, 2))) for one in range(12)}
        rows = [stored(f"{one}c", one, names, content=f"pump {one}") for one, names in roles.items()]
        writer = index.begin(RECIPE, None)
        writer.add(rows, [["pump", draw.choice(WORDS)] for _ in rows], random_units(len(rows), number))
        generation = sealed(writer, "g1")
        catalog.add_generation(building("g1", tenant=tenant))
        catalog.put_documents("g1", [_of(tenant, one, names) for one, names in roles.items()])
        catalog.update_generation(
            "g1", GenerationState.CANDIDATE, table_version=generation.table_version, chunks=len(rows)
        )
        catalog.publish("g1", expected=None)
        gone = draw.sample(sorted(roles), 2)
        catalog.delete(gone)
        rights[tenant] = {one: names for one, names in roles.items() if one not in gone}
        made[tenant] = catalog, index.open(_named(generation, tenant)), index
    vectors = random_units(50, 99)
    found = 0
    for turn in range(1000):
        at, mine = draw.choice(TENANTS), draw.choice([*TENANTS, "nobody"])
        who = Principal(
            mine, draw.choice([None, "ada"]), frozenset(draw.sample(["staff", "hr", "legal"], draw.randint(0, 2)))
        )
        catalog, reader, _ = made[at]
        asked, revoked = Query("x", who), catalog.revoked("g1", who)
        hits = (
            reader.bm25(["pump"], asked, revoked=revoked, k=50)
            if turn % 2
            else reader.dense(vectors[turn % 50], asked, revoked=revoked, k=50)
        )
        readable = {one for one, names in rights[at].items() if mine == at and names & who.held_roles}
        assert {hit.chunk_id.removesuffix("c") for hit in hits} == readable
        assert {one for one in rights[at] if catalog.may_read(one, who)} == readable if turn % 10 == 0 else True
        found += len(hits)
    assert found > 500
    for _, _, index in made.values():
        index.close()
    pool.close()


def _of(tenant: str, name: str, roles: frozenset[str]) -> tuple[Any, Any]:
    state, one = document(name, roles)
    return state, replace(one, tenant=tenant)


def _named(generation: Any, tenant: str) -> Any:
    return replace(generation, tenant=tenant)
