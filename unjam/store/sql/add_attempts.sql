INSERT INTO attempt (
    puzzle_id, metric, outcome, reason, algorithm, heuristic, expanded, generated, peak_states, peak_bytes,
    seconds, cpu_seconds, profile, worker, version
)
SELECT
    puzzle_id, metric, outcome, reason, algorithm, heuristic, expanded, generated, peak_states, peak_bytes,
    seconds, cpu_seconds, profile, %(worker)s, %(version)s
FROM found
