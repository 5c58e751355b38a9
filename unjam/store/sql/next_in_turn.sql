-- The next chunk of a queue: owners take turns (API keys, and all who need none), and so do the batches of each. Only the
-- oldest batches are looked at, as many as that takes a millisecond for.
WITH RECURSIVE waiting (batch_id) AS (
    (SELECT batch_id FROM chunk WHERE state = 'waiting' AND queue = %(queue)s ORDER BY batch_id LIMIT 1)
    UNION ALL
    SELECT (
        SELECT c.batch_id FROM chunk c
        WHERE c.state = 'waiting' AND c.queue = %(queue)s AND c.batch_id > w.batch_id
        ORDER BY c.batch_id
        LIMIT 1
    )
    FROM waiting w
    WHERE w.batch_id IS NOT NULL
),
in_turn AS MATERIALIZED (
    SELECT b.id, coalesce(b.key_id, 0) AS owner
    FROM (SELECT batch_id FROM waiting LIMIT 250) w
    JOIN batch b ON b.id = w.batch_id
    LEFT JOIN turn t ON t.batch_id = b.id
    ORDER BY
        (SELECT max(taken) FROM turn o WHERE o.owner = coalesce(b.key_id, 0)) NULLS FIRST, t.taken NULLS FIRST, b.id
),
following AS (
    SELECT c.id, c.batch_id, i.owner
    FROM in_turn i
    CROSS JOIN LATERAL (
        SELECT id, batch_id
        FROM chunk
        WHERE batch_id = i.id AND state = 'waiting' AND queue = %(queue)s
        ORDER BY id
        LIMIT 1
        FOR UPDATE SKIP LOCKED
    ) c
    LIMIT 1
),
-- Who takes from the same batch at this moment notes the same: nobody waits for the other's commit.
noted AS (
    UPDATE turn SET taken = clock_timestamp()
    WHERE batch_id = (
        SELECT t.batch_id FROM turn t JOIN following f ON f.batch_id = t.batch_id FOR UPDATE OF t SKIP LOCKED
    )
),
first AS (
    INSERT INTO turn (batch_id, owner, taken)
    SELECT batch_id, owner, clock_timestamp() FROM following f
    WHERE NOT EXISTS (SELECT FROM turn t WHERE t.batch_id = f.batch_id)
    ON CONFLICT (batch_id) DO NOTHING
)
SELECT id FROM following
