-- The next puzzles of a family by number, from those whose optimum is in a range; of all that were looked at, with their
-- text only where it has the size and number of pieces that are wanted. Each optimum is a range of the index in the order
-- of puzzles; the ranges are read so far as they may be needed, and merged.
SELECT
    c.puzzle_id, c.length, p.key,
    CASE
        WHEN (%(width)s::integer IS NULL OR (p.width, p.height) IN ((%(width)s, %(height)s), (%(height)s, %(width)s)))
            AND (%(pieces)s::integer IS NULL OR p.pieces = %(pieces)s)
        THEN p.canonical
    END AS canonical
FROM (
    SELECT next.puzzle_id, next.length
    FROM generate_series(
        (
            SELECT min(length) FROM solution
            WHERE family = %(family)s AND metric = %(metric)s AND length >= %(min)s
        ),
        (
            SELECT max(length) FROM solution
            WHERE family = %(family)s AND metric = %(metric)s AND length <= %(max)s
        )
    ) AS optimum
    CROSS JOIN LATERAL (
        SELECT puzzle_id, length FROM solution
        WHERE family = %(family)s AND metric = %(metric)s AND length = optimum
            AND puzzle_id > %(after)s AND puzzle_id <= %(until)s
        ORDER BY puzzle_id
        LIMIT %(limit)s
    ) next
    ORDER BY next.puzzle_id
    LIMIT %(limit)s
) c
JOIN puzzle p ON p.id = c.puzzle_id
ORDER BY c.puzzle_id
