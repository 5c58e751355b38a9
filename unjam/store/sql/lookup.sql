SELECT p.key, s.*
FROM puzzle p JOIN solution s ON s.puzzle_id = p.id
WHERE p.key = ANY(%(keys)s)
ORDER BY s.metric
