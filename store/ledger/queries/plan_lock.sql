-- Lets one transaction at a time put actions into places that others come free of. A new
-- action waits for whoever is just closing the old one in its place, so two that plan could
-- wait for each other. Ends with the transaction.
SELECT pg_advisory_xact_lock(7310589412025513)
