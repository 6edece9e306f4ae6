-- Probes of these sandboxes, newest first.
SELECT provider, sandbox, outcome, detail, at, took_us
FROM sandkeeper.probes
WHERE (provider, sandbox) IN (SELECT * FROM unnest(@providers::text[], @sandboxes::text[]))
ORDER BY at DESC, number DESC
LIMIT @most
