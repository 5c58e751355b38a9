-- Their puzzles; a session has one such table, and each transaction finds it empty.
CREATE TEMPORARY TABLE IF NOT EXISTS block_puzzles (
    key bytea, family text, rules_version smallint, width smallint, height smallint, pieces smallint, canonical text
) ON COMMIT DELETE ROWS
