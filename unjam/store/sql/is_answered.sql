-- Whether a puzzle needs no search any more for a batch that waits for it.
SELECT 1
FROM solution s JOIN batch b ON b.id = %(batch)s
WHERE s.puzzle_id = %(puzzle)s AND s.metric = %(metric)s AND {answered}
