-- Lets one migration run at a time; ends with the transaction.
SELECT pg_advisory_xact_lock(7310589412025511)
