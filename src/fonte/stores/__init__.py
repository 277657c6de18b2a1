"""Where things are kept: the home on disk, the catalog, the chunk index and the vector cache."""
