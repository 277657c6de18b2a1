"""Holds a reader of the generation that is active now; when a line comes, reads it whole and says what it read."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from fonte.stores.home import Home
from fonte.types import Principal, Query

if __name__ == "__main__":
    store = Home(Path(sys.argv[1])).tenant("default")
    active = store.catalog.active()
    assert active is not None
    reader = store.index.open(active)
    print("ready", flush=True)
    sys.stdin.readline()
    hits = reader.bm25(["en=key"], Query("key", Principal()), revoked=(), k=50)
    texts = {}
    for state in store.catalog.states(active.id):
        document = store.catalog.document(active.id, state.document_id)
        texts[state.name] = document.text if document else None
    chunks = reader.chunks([hit.chunk_id for hit in hits], Principal(), revoked=())
    print(json.dumps({"generation": active.id, "found": len(hits), "read": len(chunks), "texts": texts}), flush=True)
