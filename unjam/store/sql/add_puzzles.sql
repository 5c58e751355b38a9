-- In the order of keys, so that two orders of the same puzzles cannot deadlock.
INSERT INTO puzzle (key, family, rules_version, width, height, pieces, canonical)
SELECT DISTINCT ON (key) key, family, rules_version, width, height, pieces, canonical
FROM block_puzzles b
WHERE NOT EXISTS (SELECT FROM puzzle p WHERE p.key = b.key)
ORDER BY key
ON CONFLICT (key) DO NOTHING
