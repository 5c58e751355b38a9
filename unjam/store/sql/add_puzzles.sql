-- In the order of keys, so that two orders of the same puzzles cannot deadlock. OFFSET 0 has each key looked up in the
-- index: the planner would read the whole table for every block.
INSERT INTO puzzle (key, family, rules_version, width, height, pieces, canonical)
SELECT DISTINCT ON (key) key, family, rules_version, width, height, pieces, canonical
FROM block_puzzles b
WHERE NOT EXISTS (SELECT FROM puzzle p WHERE p.key = b.key OFFSET 0)
ORDER BY key
ON CONFLICT (key) DO NOTHING
