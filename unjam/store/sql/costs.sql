SELECT p.family, f.metric, p.width * p.height AS cells, p.pieces, count(*) AS solved, sum(f.seconds) AS seconds
FROM found f JOIN puzzle p ON p.id = f.puzzle_id
GROUP BY 1, 2, 3, 4
ORDER BY 1, 2, 3, 4
