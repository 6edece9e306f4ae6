-- Lets one process at a time read the platform's history; ends with the connection.
SELECT pg_try_advisory_lock(7310589412025516)
