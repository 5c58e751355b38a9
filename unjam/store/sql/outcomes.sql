-- Levels of a batch by outcome, each puzzle's cost counted once; a null outcome is still waited for, or of a cancelled
-- batch and not known. What a shared search has found out so far is its checkpoint.
SELECT
    coalesce(s.outcome, CASE WHEN c.id IS NOT NULL AND %(cancelled)s THEN 'bounded' END) AS outcome,
    sum(w.levels)::bigint AS levels,
    coalesce(sum(coalesce(c.expanded, s.expanded)), 0)::bigint AS expanded,
    coalesce(sum(coalesce(c.seconds, s.seconds)), 0) AS seconds
FROM (
    SELECT puzzle_id, metric, count(*) AS levels
    FROM batch_item
    WHERE batch_id = %(batch)s AND error IS NULL
    GROUP BY puzzle_id, metric
) w
LEFT JOIN pending q ON q.batch_id = %(batch)s AND q.puzzle_id = w.puzzle_id AND q.metric = w.metric
LEFT JOIN checkpoint c
    ON c.batch_id = %(batch)s AND c.puzzle_id = w.puzzle_id AND c.metric = w.metric AND q.chunk_id IS NOT NULL
LEFT JOIN solution s
    ON s.puzzle_id = w.puzzle_id AND s.metric = w.metric AND (q.chunk_id IS NULL OR %(cancelled)s)
GROUP BY 1
