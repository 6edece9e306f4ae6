-- Writes what the probes of these sandboxes come to now.
UPDATE sandkeeper.sandboxes s
SET probe = u.outcome, probe_detail = u.detail, probed_at = u.at, probe_took_us = u.took,
    last_answered = u.last_answered, probe_failures = u.failures::jsonb,
    vitals = u.vitals::jsonb, probe_worker = u.worker, probe_worker_at = u.worker_at, probe_run_ended = u.run_ended
FROM unnest(
    @providers::text[], @sandboxes::text[], @outcomes::text[], @details::text[], @at::timestamptz[],
    @took::bigint[], @last_answered::timestamptz[], @failures::text[], @vitals::text[],
    @workers::text[], @worker_at::timestamptz[], @run_ended::timestamptz[])
    u (provider, sandbox, outcome, detail, at, took, last_answered, failures, vitals, worker, worker_at, run_ended)
WHERE s.provider = u.provider AND s.id = u.sandbox
