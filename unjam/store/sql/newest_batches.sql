{batch_state}
WHERE (%(before)s::bigint IS NULL OR b.id < %(before)s) AND (%(key)s::bigint IS NULL OR b.key_id = %(key)s)
ORDER BY b.id DESC
LIMIT %(limit)s
