-- The puzzles of a leased chunk; what another batch has answered meanwhile is no longer waited for.
WITH known AS (
    DELETE FROM pending q USING solution s, batch b
    WHERE q.chunk_id = %(chunk)s AND s.puzzle_id = q.puzzle_id AND s.metric = q.metric AND b.id = q.batch_id
        AND {answered}
    RETURNING q.puzzle_id, q.metric, q.levels
),
counted AS (
    UPDATE chunk SET levels = chunk.levels - known.levels
    FROM (SELECT sum(levels) AS levels FROM known HAVING count(*) > 0) known
    WHERE id = %(chunk)s
)
SELECT q.puzzle_id, q.metric, p.family, p.canonical
FROM pending q JOIN puzzle p ON p.id = q.puzzle_id
WHERE q.chunk_id = %(chunk)s AND (q.puzzle_id, q.metric) NOT IN (SELECT puzzle_id, metric FROM known)
ORDER BY q.puzzle_id, q.metric
