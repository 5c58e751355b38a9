-- Move the second half of a chunk's puzzles to a new chunk.
WITH half AS (
    SELECT puzzle_id, metric, levels
    FROM pending
    WHERE chunk_id = %(chunk)s
    ORDER BY puzzle_id, metric
    OFFSET (SELECT (count(*) + 1) / 2 FROM pending WHERE chunk_id = %(chunk)s)
),
made AS (
    INSERT INTO chunk (batch_id, queue, levels)
    SELECT batch_id, queue, (SELECT sum(levels) FROM half) FROM chunk WHERE id = %(chunk)s
    RETURNING id, levels
),
moved AS (
    UPDATE pending q SET chunk_id = made.id
    FROM made, half
    WHERE q.chunk_id = %(chunk)s AND q.puzzle_id = half.puzzle_id AND q.metric = half.metric
),
kept AS (
    UPDATE chunk c SET levels = greatest(c.levels - made.levels, 0) FROM made WHERE c.id = %(chunk)s
)
SELECT id FROM made
