-- Cut what the store cannot answer into chunks: in the user's order, at least 16 a batch where it has that many.
WITH unanswered AS (
    SELECT w.puzzle_id, w.metric, row_number() OVER (ORDER BY w.first) - 1 AS position
    FROM (
        SELECT puzzle_id, metric, min(index) AS first
        FROM batch_item
        WHERE batch_id = %(batch)s AND error IS NULL
        GROUP BY puzzle_id, metric
    ) w
    JOIN batch b ON b.id = %(batch)s
    LEFT JOIN solution s USING (puzzle_id, metric)
    WHERE ({answered}) IS NOT TRUE
),
total AS (
    SELECT count(*) AS puzzles, least(ceil(count(*) / 16.0), 256)::integer AS size FROM unanswered
),
made AS (
    INSERT INTO chunk (batch_id, queue)
    SELECT b.id, b.queue
    FROM total, batch b, generate_series(1, CASE WHEN puzzles > 0 THEN ceil(puzzles::numeric / size)::integer ELSE 0 END)
    WHERE b.id = %(batch)s
    RETURNING id
),
numbered AS (
    SELECT id, row_number() OVER (ORDER BY id) - 1 AS position FROM made
),
waiting AS (
    INSERT INTO pending (batch_id, puzzle_id, metric, chunk_id)
    SELECT %(batch)s, u.puzzle_id, u.metric, n.id
    FROM unanswered u, total t, numbered n
    WHERE n.position = u.position / t.size
)
SELECT t.puzzles, array(SELECT id FROM made ORDER BY id) AS chunks FROM total t
