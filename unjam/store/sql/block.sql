-- Some levels of an order, as COPY brings them; a session has one such table, and each transaction finds it empty.
CREATE TEMPORARY TABLE IF NOT EXISTS block (
    index integer, line integer, name text, tags text[], known json, error text,
    key bytea, family text, rules_version smallint, width smallint, height smallint, pieces smallint, canonical text,
    metric text, symmetry smallint, fields json
) ON COMMIT DELETE ROWS
