-- The levels of one submit, as COPY brings them.
CREATE TEMPORARY TABLE staging (
    index integer, line integer, name text, tags text[], known json, error text,
    key bytea, family text, rules_version smallint, width smallint, height smallint, pieces smallint, canonical text,
    metric text, symmetry smallint, fields json
) ON COMMIT DROP
