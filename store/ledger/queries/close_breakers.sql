-- Closes the breakers that a pass no longer names.
DELETE FROM sandkeeper.breakers WHERE NOT rule = ANY(@rules::text[])
