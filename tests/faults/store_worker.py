"""Syncs one home for ever: each round changes some documents and publishes. Killed by the test at any moment."""

from __future__ import annotations

import random
import sys
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
from contract.store_making import CODED, building, document, random_codes, random_units, stored

from fonte.stores.home import Home, TenantStore
from fonte.types import GenerationState

DOCUMENTS = 12


def codes_of(chunk: str) -> np.ndarray:
    """A chunk's own codes: no other has them."""
    return random_codes([5], zlib.crc32(chunk.encode()))[0]


def sync(store: TenantStore, name: str, version: str) -> None:
    """One round: clean up, build on the active generation, publish, forget."""
    catalog = store.catalog
    with catalog.writer():
        catalog.abandon_building()
        catalog.forget_generations(1)
        store.index.drop(catalog.generations())
        active = catalog.active()
        writer = store.index.begin(CODED, active)
        catalog.add_generation(replace(building(name, active.id if active else None), table=writer.table, recipe=CODED))
        changed = range(DOCUMENTS) if active is None else random.sample(range(DOCUMENTS), 4)
        for at in changed:
            document_id = f"d{at}"
            writer.remove_documents([document_id])
            chunks = [stored(f"{document_id}-{version}-{one}", document_id, source_version=version) for one in range(3)]
            codes = [codes_of(one.chunk.id) for one in chunks]
            writer.add(chunks, [["x", f"w{at}", version]] * 3, random_units(3, at), codes)
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
