-- Lets the next one read it.
SELECT pg_advisory_unlock(7310589412025516)
