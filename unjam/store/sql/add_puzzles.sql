-- In the order of keys, so that two submits of the same puzzles cannot deadlock.
INSERT INTO puzzle (key, family, rules_version, width, height, pieces, canonical)
SELECT DISTINCT ON (key) key, family, rules_version, width, height, pieces, canonical
FROM staging
WHERE error IS NULL AND NOT EXISTS (SELECT FROM puzzle p WHERE p.key = staging.key)
ORDER BY key
ON CONFLICT (key) DO NOTHING
