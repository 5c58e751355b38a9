-- What the searches of a chunk took. Nobody waits for another who does the same: some are not counted.
INSERT INTO cost (family, metric, cells, pieces, solved, seconds)
SELECT p.family, a.metric, p.width * p.height, p.pieces, count(*), sum(a.seconds)
FROM unnest(%(puzzle_id)s::bigint[], %(metric)s::text[], %(seconds)s::double precision[]) AS a (puzzle_id, metric, seconds)
JOIN puzzle p ON p.id = a.puzzle_id
GROUP BY 1, 2, 3, 4
ORDER BY 1, 2, 3, 4
ON CONFLICT (family, metric, cells, pieces) DO UPDATE SET
    solved = cost.solved + excluded.solved, seconds = cost.seconds + excluded.seconds
