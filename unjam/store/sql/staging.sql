-- The levels of one order, and what is needed of their puzzles.
CREATE TEMPORARY TABLE staging (
    index integer, line integer, name text, tags text[], known json, error text, puzzle_id bigint, family text,
    cells integer, pieces smallint, metric text, symmetry smallint, fields json
)
