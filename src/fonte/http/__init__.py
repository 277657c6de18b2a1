"""The server: requests to the corpus, and back. Nothing here decides who may read what; the corpus does."""
