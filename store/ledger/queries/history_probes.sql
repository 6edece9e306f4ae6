-- Probes of these sandboxes, newest first. Each is a look into an index of its own.
SELECT p.provider, p.sandbox, p.outcome, p.detail, p.at, p.took_us, p.worker
FROM (SELECT DISTINCT * FROM unnest(@providers::text[], @sandboxes::text[])) s (provider, sandbox)
CROSS JOIN LATERAL (
    SELECT p.* FROM sandkeeper.probes p WHERE p.provider = s.provider AND p.sandbox = s.sandbox
    ORDER BY p.at DESC, p.number DESC LIMIT @most) p
ORDER BY p.at DESC, p.number DESC
LIMIT @most
