-- How the templates were at the last look.
SELECT provider, name, state, raw, error, last_start, last_used, expires_at, looked_at
FROM sandkeeper.templates
