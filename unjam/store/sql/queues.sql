SELECT queue, sum(waiting)::bigint AS waiting, min(oldest) AS oldest, sum(running)::bigint AS running
FROM (
    SELECT queue, count(*) AS waiting, min(created) AS oldest, 0 AS running FROM chunk WHERE state = 'waiting' GROUP BY queue
    UNION ALL
    SELECT queue, 0, NULL, count(*) FROM chunk WHERE state = 'leased' GROUP BY queue
) c
GROUP BY queue
