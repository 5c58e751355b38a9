-- A worker tells what it has done since it told last, and how many nodes the search that it is at has generated.
INSERT INTO worker (name, seen, answered, generated, searching)
VALUES (%(name)s, clock_timestamp(), %(answered)s, %(generated)s, %(searching)s)
ON CONFLICT (name) DO UPDATE SET
    seen = excluded.seen, answered = worker.answered + excluded.answered,
    generated = worker.generated + excluded.generated, searching = excluded.searching
