"""Settings of query processing."""

from __future__ import annotations

from fonte.source_settings import Section


class QuestionSettings(Section):
    """Which steps a question goes through before it is looked for; each is told in the trace."""

    history: bool = True
    parts: bool = False
