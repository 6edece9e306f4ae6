-- The ends of the newest complete passes. By number: a clock that was set back does not
-- bring an old one to the front.
SELECT ended_at FROM sandkeeper.passes WHERE complete ORDER BY id DESC LIMIT @most
