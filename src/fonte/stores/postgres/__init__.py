"""Stores in PostgreSQL: many tenants in one database, kept apart by row-level security."""
