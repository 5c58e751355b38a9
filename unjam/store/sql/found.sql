-- What the searches of a chunk found, as COPY brings it; a session has one, and each transaction finds it empty.
CREATE TEMPORARY TABLE IF NOT EXISTS found (
    puzzle_id bigint, metric text, outcome text, reason text, length integer, lower integer, upper integer, moves bytea,
    algorithm text, heuristic text, pruned boolean, expanded bigint, generated bigint, peak_states bigint,
    peak_bytes bigint, seconds double precision, cpu_seconds double precision, profile bigint[]
) ON COMMIT DELETE ROWS
