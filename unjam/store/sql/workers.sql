SELECT
    coalesce(c.worker, w.name) AS worker, c.batch_id, c.id AS chunk_id, c.attempts AS attempt, c.leased AS since, w.seen,
    coalesce(w.answered, 0) AS answered, coalesce(w.generated + w.searching, 0) AS generated
FROM (SELECT * FROM chunk WHERE state = 'leased') c
FULL JOIN worker w ON w.name = c.worker
WHERE c.id IS NOT NULL OR w.seen > now() - interval '1 minute'
ORDER BY 1
