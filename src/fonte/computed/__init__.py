"""Answers that are computed over a table instead of being taken from passages (docs/adr/0022)."""
