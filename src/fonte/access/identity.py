"""Who stands behind a request, and what may be done in their name."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from fonte.errors import NotPermitted
from fonte.types import Principal


class Action(StrEnum):
    """What a key allows, beside the roles that say which documents."""

    READ = "read"
    """Search, ask, read documents and one's own answers and conversations."""
    WRITE = "write"
    """Add documents; sync, retry or delete those that one may read."""
    ADMIN = "admin"
    """Run the tenant: every document's state, generations, settings, audit."""


@dataclass(frozen=True, slots=True)
class Identity:
    """``id`` names the key or the token's subject in the audit; it is no secret."""

    id: str
    principal: Principal
    actions: frozenset[Action]

    def require(self, action: Action) -> None:
        """Raises NotPermitted."""
        if action not in self.actions:
            raise NotPermitted(f"this key may not {action.value}", hint="ask whoever runs this server for another key")

    @property
    def runs_it(self) -> bool:
        """Whether they look after the tenant."""
        return Action.ADMIN in self.actions
