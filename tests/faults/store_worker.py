"""Syncs one home for ever: each round changes some documents and publishes. Killed by the test at any moment."""

from __future__ import annotations

import random
import sys
from dataclasses import replace
from pathlib import Path

from contract.store_making import RECIPE, building, document, random_units, stored

from fonte.stores.home import Home, TenantStore
from fonte.types import GenerationState

DOCUMENTS = 12


def sync(store: TenantStore, name: str, version: str) -> None:
    """One round: clean up, build on the active generation, publish, forget."""
    catalog = store.catalog
    with catalog.writer():
        catalog.abandon_building()
        catalog.forget_generations(1)
        store.index.drop(catalog.generations())
        active = catalog.active()
        writer = store.index.begin(RECIPE, active)
        catalog.add_generation(replace(building(name, active.id if active else None), table=writer.table))
        changed = range(DOCUMENTS) if active is None else random.sample(range(DOCUMENTS), 4)
        for at in changed:
            document_id = f"d{at}"
            writer.remove_documents([document_id])
            chunks = [stored(f"{document_id}-{version}-{one}", document_id, source_version=version) for one in range(3)]
            writer.add(chunks, [["x", f"w{at}", version]] * 3, random_units(3, at))
            state, text = document(document_id, version=version, text=f"{document_id} {version}")
            catalog.put_document(name, replace(state, chunks=3), text)
        table_version, count = writer.seal()
        catalog.update_generation(name, GenerationState.CANDIDATE, table_version=table_version, chunks=count)
        catalog.publish(name, expected=active.id if active else None)


def main() -> None:
    """Sync without end, saying when the first generation stands."""
    folder, seed = Path(sys.argv[1]), int(sys.argv[2])
    random.seed(seed)
    store = Home(folder).tenant("default")
    for at in range(10**6):
        sync(store, f"g{seed}-{at}", f"v{seed}-{at}")
        if at == 0:
            print("ready", flush=True)


if __name__ == "__main__":
    main()
