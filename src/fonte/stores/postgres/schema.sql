-- All tables of fonte in an empty database: psql OWNER_URL -f schema.sql. Later versions are migrations of their own.
\set ON_ERROR_STOP on
\ir migrations/0001_catalog.sql
\ir migrations/0002_index.sql
