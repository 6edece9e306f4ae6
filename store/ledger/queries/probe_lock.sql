-- What the probes of these sandboxes came to so far, locked in a fixed order. Sandboxes
-- that are not known have no row: their probes are kept in the history alone.
SELECT s.provider, s.id, s.probe, s.probe_detail, s.probed_at, s.probe_took_us, s.last_answered,
       s.probe_failures, s.vitals, s.probe_worker, s.probe_worker_at, s.probe_run_ended
FROM sandkeeper.sandboxes s
WHERE (s.provider, s.id) IN (SELECT * FROM unnest(@providers::text[], @sandboxes::text[]))
ORDER BY s.provider, s.id
-- guard:sql-probe-sum-lock lost
FOR NO KEY UPDATE
