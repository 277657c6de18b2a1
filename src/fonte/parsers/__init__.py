"""Bytes to structure, in killable child processes."""
