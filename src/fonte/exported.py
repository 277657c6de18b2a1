"""The passages that an asker may read, with their vectors, for tables of other programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice

from fonte.inspected import Exported
from fonte.parts import TenantStore
from fonte.types import Generation, Principal

_TOGETHER = 500


def exported(store: TenantStore, active: Generation, principal: Principal) -> Iterator[Exported]:
    """Every chunk of the generation that the principal may read, by source and place in it.

    A source is called by its document's name, and by its URI where several that may be read have the same name.

    Raises:
        StoreError: the index could not be read.
    """
    revoked = store.catalog.revoked(active.id, principal)
    reader = store.index.open(active)
    may = {document for document, acl in store.catalog.acls().items() if acl.admits(principal)}
    listed = (one for one in reader.stored_chunks() if one.chunk.document_id in may)
    order = sorted((one.document_name, one.chunk.document_id, one.chunk.index, one.chunk.id) for one in listed)
    named = Counter(name for name, _ in {(name, document) for name, document, _, _ in order})
    ids = (chunk for *_, chunk in order)
    while some := list(islice(ids, _TOGETHER)):
        for one in reader.chunks(some, principal, revoked=revoked).values():
            if one.vector is not None:
                name = one.document_name if named[one.document_name] == 1 else one.source_uri
                yield Exported(name, one.chunk.index, one.chunk.content, one.vector)
