-- Levels of batches by outcome, each puzzle's cost counted once; a null outcome is still waited for.
SELECT
    w.batch_id, s.outcome, sum(w.levels)::bigint AS levels,
    coalesce(sum(s.expanded), 0)::bigint AS expanded, coalesce(sum(s.seconds), 0) AS seconds
FROM (
    SELECT batch_id, puzzle_id, metric, count(*) AS levels
    FROM batch_item
    WHERE batch_id = ANY(%(batches)s) AND error IS NULL
    GROUP BY batch_id, puzzle_id, metric
) w
LEFT JOIN pending q USING (batch_id, puzzle_id, metric)
LEFT JOIN solution s ON s.puzzle_id = w.puzzle_id AND s.metric = w.metric AND q.chunk_id IS NULL
GROUP BY w.batch_id, s.outcome
