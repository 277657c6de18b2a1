-- The chunk index: tables of generations, documents as they stand in them, chunks, vectors, postings.
-- Apply as the owner, after 0001: psql OWNER_URL -v ON_ERROR_STOP=1 -f 0002_index.sql. All of it is done, or nothing.
--
-- A generation shares every row with the one that it was built upon. A row of index_documents was written by one table
-- (born) and may be taken away by later ones (index_removed); a table sees the rows that were born in its lineage, which
-- is itself and what it was built upon, and not removed there. Chunks lie in runs of numbers; a document points to its
-- run, so that other roles for a document write one row of index_documents and no chunk.

BEGIN;
SET LOCAL search_path = fonte, public;
SELECT begin_version(2, 'index');

CREATE EXTENSION IF NOT EXISTS vector SCHEMA public;
-- Rows come in by COPY, which row-level security refuses: so they come into a temporary table first.
DO $$
BEGIN
    EXECUTE format('GRANT TEMPORARY ON DATABASE %I TO fonte_app', current_database());
END
$$;

CREATE TABLE index_counters (
    tenant text COLLATE "C" NOT NULL DEFAULT current_tenant(),
    one bigint NOT NULL CHECK (one = 1),
    tables integer NOT NULL,
    documents integer NOT NULL,
    chunks integer NOT NULL,
    blocks integer NOT NULL,
    PRIMARY KEY (tenant, one)
);

CREATE TABLE index_tables (
    tenant text COLLATE "C" NOT NULL DEFAULT current_tenant(),
    number integer NOT NULL,
    name text COLLATE "C" NOT NULL,
    family integer NOT NULL,
    lineage integer[] NOT NULL,
    dimensions integer NOT NULL,
    graphed boolean NOT NULL,
    chunks integer,
    centroids jsonb,
    PRIMARY KEY (tenant, number),
    UNIQUE (tenant, name)
);
COMMENT ON COLUMN index_tables.family IS 'the table at the beginning of its lineage';
COMMENT ON COLUMN index_tables.graphed IS 'whether all of its vectors are in the graph of their dimension';
COMMENT ON COLUMN index_tables.chunks IS 'null until the table is sealed';

CREATE TABLE index_documents (
    tenant text COLLATE "C" NOT NULL DEFAULT current_tenant(),
    id integer NOT NULL,
    born integer NOT NULL,
    first integer NOT NULL,
    size integer NOT NULL,
    lengths bytea NOT NULL,
    postings integer NOT NULL,
    document_id text COLLATE "C" NOT NULL,
    document_name text COLLATE "C" NOT NULL,
    source_uri text COLLATE "C" NOT NULL,
    source_version text COLLATE "C" NOT NULL,
    title text COLLATE "C" NOT NULL,
    media_type text COLLATE "C" NOT NULL,
    language text COLLATE "C" NOT NULL,
    valid_from text COLLATE "C" NOT NULL,
    valid_to text COLLATE "C" NOT NULL,
    roles text[] COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX index_documents_by_run ON index_documents (tenant, first);
CREATE INDEX index_documents_by_birth ON index_documents (tenant, born);
COMMENT ON COLUMN index_documents.lengths IS 'number of terms of each chunk of the run, 4 bytes each, little-endian';
COMMENT ON COLUMN index_documents.postings IS 'different terms of each chunk, summed';

CREATE TABLE index_removed (
    tenant text COLLATE "C" NOT NULL DEFAULT current_tenant(),
    document integer NOT NULL,
    by integer NOT NULL,
    PRIMARY KEY (tenant, document, by)
);

CREATE TABLE index_chunks (
    tenant text COLLATE "C" NOT NULL DEFAULT current_tenant(),
    number integer NOT NULL,
    first integer NOT NULL,
    chunk_id text COLLATE "C" NOT NULL,
    document_id text COLLATE "C" NOT NULL,
    idx integer NOT NULL,
    starts integer NOT NULL,
    ends integer NOT NULL,
    content text COLLATE "C" NOT NULL,
    context text COLLATE "C" NOT NULL,
    section text COLLATE "C" NOT NULL,
    tokens integer NOT NULL,
    header_tokens integer NOT NULL,
    terms text COLLATE "C" NOT NULL,
    text_hash text COLLATE "C" NOT NULL,
    codes bytea NOT NULL,
    PRIMARY KEY (tenant, number)
);
CREATE INDEX index_chunks_by_id ON index_chunks (tenant, chunk_id);
ALTER TABLE index_chunks ALTER COLUMN codes SET STORAGE EXTERNAL;
COMMENT ON COLUMN index_chunks.section IS 'headings above the chunk, as a JSON list';
COMMENT ON COLUMN index_chunks.codes IS 'codes of the tokens one after the other; empty where the space has no codec';

-- Apart from the texts, so that comparing many vectors reads nothing else.
CREATE TABLE index_vectors (
    tenant text COLLATE "C" NOT NULL DEFAULT current_tenant(),
    number integer NOT NULL,
    first integer NOT NULL,
    graphed boolean NOT NULL,
    vector vector NOT NULL,
    PRIMARY KEY (tenant, number)
) WITH (toast_tuple_target = 8160);
CREATE INDEX index_vectors_by_run ON index_vectors (tenant, first);
ALTER TABLE index_vectors ALTER COLUMN vector SET STORAGE EXTERNAL;

-- A graph (HNSW, by cosine) over the vectors of one dimension that are marked for it. Call it for others, as the owner.
CREATE FUNCTION index_graph(dimensions integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE INDEX IF NOT EXISTS %1$I ON fonte.index_vectors USING hnsw ((vector::vector(%2$s)) vector_cosine_ops)'
        ' WHERE graphed AND vector_dims(vector) = %2$s', 'index_vectors_graph_' || dimensions, dimensions);
END
$$;
REVOKE ALL ON FUNCTION index_graph (integer) FROM PUBLIC;
SELECT index_graph(one) FROM unnest(ARRAY[384, 512, 768, 1024, 1536]) AS one;

-- Where each term stands: numbers of chunks in order (4 bytes each), then how often (2 bytes each), little-endian.
-- A term is kept as the first 16 bytes of its SHA-256.
CREATE TABLE index_postings (
    tenant text COLLATE "C" NOT NULL DEFAULT current_tenant(),
    family integer NOT NULL,
    term bytea NOT NULL,
    block integer NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (tenant, family, term, block)
);

CREATE TABLE index_blocks (
    tenant text COLLATE "C" NOT NULL DEFAULT current_tenant(),
    family integer NOT NULL,
    block integer NOT NULL,
    postings integer NOT NULL,
    PRIMARY KEY (tenant, family, block)
);

SELECT guard(one::regclass) FROM unnest(ARRAY[
    'index_counters', 'index_tables', 'index_documents', 'index_removed', 'index_chunks', 'index_vectors',
    'index_postings', 'index_blocks'
]) AS one;

COMMIT;
