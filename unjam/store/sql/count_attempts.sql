-- In one order, so that two who share a shard do not wait for each other. Returns what the searches cost (add_cost.sql).
WITH searched AS MATERIALIZED (
    SELECT
        p.family, p.width * p.height AS cells, p.pieces, a.metric, a.outcome, a.seconds, a.expanded, a.generated,
        (%(bounds)s::double precision[] || 'infinity'::double precision)[width_bucket(a.seconds, %(bounds)s::double precision[]) + 1] AS le
    FROM found a
    JOIN puzzle p ON p.id = a.puzzle_id
),
counted (name, family, outcome, le, amount) AS (
    SELECT 'attempts', family, outcome, le, count(*)::double precision FROM searched GROUP BY family, outcome, le
    UNION ALL
    SELECT m.name, s.family, '', 'infinity', m.amount
    FROM (
        SELECT family, sum(seconds) AS seconds, sum(expanded) AS expanded, sum(generated) AS generated
        FROM searched
        GROUP BY family
    ) s
    CROSS JOIN LATERAL (
        VALUES ('attempt_seconds', seconds), ('expanded', expanded::double precision), ('generated', generated::double precision)
    ) AS m (name, amount)
    WHERE m.name = 'attempt_seconds' OR NOT %(in_slices)s
),
tallied AS (
    INSERT INTO tally (name, family, outcome, le, shard, amount)
    SELECT name, family, outcome, le, pg_backend_pid() %% 16, amount
    FROM counted
    ORDER BY name, family, outcome, le
    ON CONFLICT (name, family, outcome, le, shard) DO UPDATE SET amount = tally.amount + excluded.amount
)
SELECT family, metric, cells, pieces, count(*) AS solved, sum(seconds) AS seconds
FROM searched
GROUP BY 1, 2, 3, 4
ORDER BY 1, 2, 3, 4
