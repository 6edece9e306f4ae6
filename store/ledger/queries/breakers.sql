-- The open breakers.
SELECT rule, opened_at, subjects, hash FROM sandkeeper.breakers
