"""Retrievers for other frameworks: passages of a home or of a server, with everything that a citation needs."""
