-- Levels by outcome, each puzzle's cost counted once; a null outcome is still waited for.
SELECT
    s.outcome, sum(w.levels)::bigint AS levels,
    coalesce(sum(s.expanded), 0)::bigint AS expanded, coalesce(sum(s.seconds), 0) AS seconds
FROM (
    SELECT puzzle_id, metric, count(*) AS levels
    FROM batch_item
    WHERE batch_id = %(batch)s AND error IS NULL
    GROUP BY puzzle_id, metric
) w
LEFT JOIN pending q ON q.batch_id = %(batch)s AND q.puzzle_id = w.puzzle_id AND q.metric = w.metric
LEFT JOIN solution s ON s.puzzle_id = w.puzzle_id AND s.metric = w.metric AND q.puzzle_id IS NULL
GROUP BY s.outcome
