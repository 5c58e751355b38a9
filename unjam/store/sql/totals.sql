SELECT name, family, outcome, le, sum(amount) FROM tally GROUP BY name, family, outcome, le ORDER BY name, family, outcome, le
