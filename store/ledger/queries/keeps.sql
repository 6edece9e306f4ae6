-- The newest end of what may be deleted, whatever the retention is.
SELECT LEAST(@before::timestamptz, @now::timestamptz - keeps - interval '1 minute') FROM sandkeeper.timeline_chain
