INSERT INTO tally (name, family, outcome, le, shard, amount)
VALUES (%(name)s, %(family)s, '', 'infinity', pg_backend_pid() %% 16, %(amount)s)
ON CONFLICT (name, family, outcome, le, shard) DO UPDATE SET amount = tally.amount + excluded.amount
