SELECT p.key, p.canonical, p.family AS puzzle_family, s.*
FROM puzzle p LEFT JOIN solution s ON s.puzzle_id = p.id
WHERE p.key = %(key)s
ORDER BY s.metric
