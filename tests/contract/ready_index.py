"""The embedded store as a server has it: words, texts and codes are answered from memory."""

from __future__ import annotations

from waiting import wait_until

from fonte.stores.lance_index import LanceIndex
from fonte.stores.lance_reader import LanceReader
from fonte.types import Generation


class ReadyIndex(LanceIndex):
    """Readers are ready when they are handed out, but for those of tables without a row."""

    def open(self, generation: Generation) -> LanceReader:
        reader = super().open(generation)
        reader.get_ready()
        wait_until(lambda: reader.word_search == ("memory" if generation.chunks else "table"))
        if generation.chunks:
            coded = ["codes"] if generation.recipe.space.codec else []
            wait_until(lambda: all(reader._opened.kept([one]) is not None for one in ["content", *coded]))
        return reader
