{batch_state}
WHERE b.id = %(batch)s
