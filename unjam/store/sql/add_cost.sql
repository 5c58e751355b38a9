INSERT INTO cost (family, metric, cells, pieces, solved, seconds)
VALUES (%(family)s, %(metric)s, %(cells)s, %(pieces)s, %(solved)s, %(seconds)s)
ON CONFLICT (family, metric, cells, pieces) DO UPDATE SET
    solved = cost.solved + excluded.solved, seconds = cost.seconds + excluded.seconds
