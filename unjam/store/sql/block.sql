-- Some levels of an order, as COPY brings them.
CREATE TEMPORARY TABLE block (
    index integer, line integer, name text, tags text[], known json, error text,
    key bytea, family text, cells integer, pieces smallint, metric text, symmetry smallint, fields json
) ON COMMIT DROP
