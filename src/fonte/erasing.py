"""A corpus from which documents, users and tenants can be taken so that nothing of them is left."""

from __future__ import annotations

from fonte.embedding import vector_key
from fonte.errors import InputError
from fonte.named import called, only_one
from fonte.showing import Showing
from fonte.types import DocumentState


class Erasing(Showing):
    """A corpus that can forget for good."""

    def erase(self, *documents: str, tenant: str = "default") -> list[str]:
        """Take documents out of every file of the tenant, and complete what an earlier call left; ids of all.

        With them go every generation but the active one, all answers that rest on them with their turns in
        conversations, feedback and labels, uploads and fetched copies, and their words in the audit log. A file that
        still lies in a synced source is not touched, and comes back with the next sync.

        Raises:
            NotFound: no such document. HomeLocked, StoreUnavailable: run it again.
        """
        store = self._store_of(tenant)
        active = store.catalog.active()
        states = {state.document_id: state for state in (store.catalog.states(active.id) if active else [])}
        for one in store.catalog.generations():  # also one that only an older generation holds
            states = {state.document_id: state for state in store.catalog.states(one.id)} | states
        doomed: list[DocumentState] = []
        for name in documents:
            found = called(name, list(states.values()))
            if found or not store.eraser.pending():  # else its rows are gone already
                doomed.append(only_one(name, found))
        gone = store.eraser.documents(doomed, key_of=vector_key, forget_upload=self._parts.uploads(tenant).forget)
        self._drawer.forget(gone)
        return gone

    def erase_user(self, user: str, *, tenant: str = "default") -> None:
        """Take out a user's answers, conversations, feedback, jobs and keys, and their name in the audit log.

        Documents that they uploaded stay, without an owner.

        Raises:
            InputError: no name. HomeLocked, StoreUnavailable: run it again.
        """
        if not user.strip():
            raise InputError("a user without a name", hint="--user NAME")
        self._store_of(tenant).eraser.user(user, disown=self._parts.uploads(tenant).disown)

    def erase_tenant(self, tenant: str) -> None:
        """Take out all that a tenant has: documents, index, answers, keys, audit entries.

        Raises:
            HomeLocked, StoreUnavailable: run it again.
        """
        store = self._store_of(tenant)
        store.eraser.everything()
        store.close()
        self._stores.pop(tenant, None)
        self._drawer.forget()
