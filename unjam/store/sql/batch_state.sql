-- Batches with the state of their chunks.
SELECT
    b.id, b.name, b.queue, b.levels, b.created, b.cancelled,
    CASE WHEN b.cancelled IS NOT NULL THEN 'cancelled' WHEN c.unfinished > 0 THEN 'running' ELSE 'done' END AS state,
    CASE WHEN c.unfinished = 0 THEN coalesce(c.finished, b.created) END AS finished,
    c.waiting, c.leased, c.oldest
FROM batch b
CROSS JOIN LATERAL (
    SELECT
        count(*) FILTER (WHERE state IN ('waiting', 'leased')) AS unfinished,
        count(*) FILTER (WHERE state = 'waiting') AS waiting,
        count(*) FILTER (WHERE state = 'leased') AS leased,
        min(created) FILTER (WHERE state = 'waiting') AS oldest,
        max(finished) AS finished
    FROM chunk
    WHERE batch_id = b.id
) c
