-- Batches with the state of their chunks. open: levels that are not answered; of a search that is shared, that of
-- the task, which is in its first slice. The checkpoint of a cancelled batch may have gone to another.
SELECT
    b.id, b.name, b.queue, b.levels, b.created, b.cancelled, (SELECT name FROM api_key WHERE id = b.key_id) AS key,
    CASE WHEN b.cancelled IS NOT NULL THEN 'cancelled' WHEN c.unfinished > 0 THEN 'running' ELSE 'done' END AS state,
    CASE WHEN c.unfinished = 0 THEN coalesce(c.finished, b.created) END AS finished,
    c.waiting, c.leased, c.oldest,
    c.open + (
        SELECT coalesce(sum(q.levels), 0) FROM chunk s JOIN pending q ON q.chunk_id = s.id
        WHERE s.batch_id = b.id AND s.levels = 0 AND (s.checkpoint_id IS NOT NULL OR b.cancelled IS NOT NULL)
    ) AS open
FROM batch b
CROSS JOIN LATERAL (
    SELECT
        count(*) FILTER (WHERE state IN ('waiting', 'leased')) AS unfinished,
        count(*) FILTER (WHERE state = 'waiting') AS waiting,
        count(*) FILTER (WHERE state = 'leased') AS leased,
        min(created) FILTER (WHERE state = 'waiting') AS oldest,
        max(finished) AS finished,
        coalesce(sum(levels) FILTER (WHERE state <> 'done'), 0) AS open
    FROM chunk
    WHERE batch_id = b.id
) c
