-- Cut what the store cannot answer into chunks of about equal cost, in the user's order: 16 a batch, but of `seconds` at
-- most, and of no less than a `short` time. A puzzle that is expected to take as long as a chunk has one of its own.
WITH unanswered AS (
    SELECT w.*
    FROM (
        SELECT puzzle_id, metric, family, cells, pieces, count(*) AS levels, min(index) AS first
        FROM staging
        GROUP BY puzzle_id, metric, family, cells, pieces
    ) w
    JOIN batch b ON b.id = %(batch)s
    LEFT JOIN solution s USING (puzzle_id, metric)
    WHERE ({answered}) IS NOT TRUE
),
alike AS (
    SELECT family, metric, cells, pieces, sum(seconds) / sum(solved) AS cost
    FROM cost
    GROUP BY GROUPING SETS ((family, metric, cells, pieces), (family, metric))
    HAVING sum(solved) >= 10
),
costly AS (
    SELECT
        u.puzzle_id, u.metric, u.levels, u.first,
        greatest(coalesce(a.cost, f.cost, CASE u.family WHEN 'rush' THEN 0.0005 ELSE %(short)s END), %(least)s) AS cost
    FROM unanswered u
    LEFT JOIN alike a USING (family, metric, cells, pieces)
    LEFT JOIN alike f ON f.family = u.family AND f.metric = u.metric AND f.cells IS NULL
),
total AS (
    SELECT count(*) AS puzzles, sum(levels) AS waiting, greatest(least(sum(cost) / 16, %(seconds)s), %(short)s) AS most FROM costly
),
placed AS (
    SELECT
        puzzle_id, metric, levels, cost >= most AS alone,
        CASE WHEN cost >= most THEN row_number() OVER in_order ELSE floor((sum(cost) OVER in_order - cost) / most) END
            AS place
    FROM costly, total
    WINDOW in_order AS (PARTITION BY cost >= most ORDER BY first ROWS UNBOUNDED PRECEDING)
),
parts AS (
    SELECT alone, place, sum(levels) AS levels, row_number() OVER (ORDER BY alone, place) AS number
    FROM placed
    GROUP BY alone, place
),
made AS (
    INSERT INTO chunk (batch_id, queue, levels)
    SELECT b.id, b.queue, p.levels
    FROM batch b, parts p
    WHERE b.id = %(batch)s
    ORDER BY p.number
    RETURNING id
),
numbered AS (
    SELECT id, row_number() OVER (ORDER BY id) AS number FROM made
),
waiting AS (
    INSERT INTO pending (batch_id, puzzle_id, metric, levels, chunk_id)
    SELECT %(batch)s, r.puzzle_id, r.metric, r.levels, n.id
    FROM placed r JOIN parts p USING (alone, place) JOIN numbered n USING (number)
)
SELECT t.puzzles, coalesce(t.waiting, 0)::integer AS levels, array(SELECT id FROM made ORDER BY id) AS chunks FROM total t
