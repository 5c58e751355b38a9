-- What all levels of an order ask for.
CREATE TEMPORARY TABLE staging (
    index integer, puzzle_id bigint, metric text, family text, cells integer, pieces smallint
) ON COMMIT DROP
