SELECT
    count(*) AS levels,
    count(*) FILTER (WHERE i.error IS NOT NULL) AS bad,
    count(*) FILTER (WHERE i.error IS NULL AND q.chunk_id IS NULL) AS answered
FROM batch_item i LEFT JOIN pending q USING (batch_id, puzzle_id, metric)
WHERE i.batch_id = %(batch)s
