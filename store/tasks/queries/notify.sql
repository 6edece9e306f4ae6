-- Tells listeners of a change; they hear it when the transaction commits.
SELECT pg_notify(@channel::text, @payload::text)
