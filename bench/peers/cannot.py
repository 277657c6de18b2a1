"""What a peer has no way to do. A module of its own: ``work.py`` runs as the main program, and peers import it too."""

from __future__ import annotations


class Cannot(Exception):
    """The peer has no such thing; a fault of its libraries, ``NotImplementedError`` too, is not this."""
