-- The inventory with what each sandbox's probes come to: sandboxes that exist, those that
-- are gone lately, and those whose task still lives. The array makes the last part a
-- look-up by each live task, whatever the planner thinks of the history. In the order of the
-- index these look-ups take half the time; where nothing is gone for long there are none.
SELECT s.provider, s.id, s.name, s.task, s.template, s.state, s.raw, s.created_at, s.first_seen,
       s.state_since, s.resumed_at, s.ran_at, s.gone_at, s.gone_by_us, s.probe, s.probe_detail,
       s.probed_at, s.probe_took_us, s.last_answered, s.probe_failures, s.vitals, s.worked_at,
       s.probe_worker, s.probe_worker_at, s.probe_run_ended, s.region, s.cpu, s.gpu, s.memory_gib
FROM sandkeeper.sandboxes s
WHERE s.gone_at IS NULL
UNION ALL
SELECT s.provider, s.id, s.name, s.task, s.template, s.state, s.raw, s.created_at, s.first_seen,
       s.state_since, s.resumed_at, s.ran_at, s.gone_at, s.gone_by_us, s.probe, s.probe_detail,
       s.probed_at, s.probe_took_us, s.last_answered, s.probe_failures, s.vitals, s.worked_at,
       s.probe_worker, s.probe_worker_at, s.probe_run_ended, s.region, s.cpu, s.gpu, s.memory_gib
FROM sandkeeper.sandboxes s
WHERE s.gone_at > @recent
UNION ALL
SELECT s.provider, s.id, s.name, s.task, s.template, s.state, s.raw, s.created_at, s.first_seen,
       s.state_since, s.resumed_at, s.ran_at, s.gone_at, s.gone_by_us, s.probe, s.probe_detail,
       s.probed_at, s.probe_took_us, s.last_answered, s.probe_failures, s.vitals, s.worked_at,
       s.probe_worker, s.probe_worker_at, s.probe_run_ended, s.region, s.cpu, s.gpu, s.memory_gib
FROM sandkeeper.sandboxes s
WHERE s.task = ANY(ARRAY(
        SELECT t.id FROM sandkeeper.task_states t
        WHERE t.live AND (SELECT min(g.gone_at) FROM sandkeeper.sandboxes g) <= @recent
        ORDER BY t.id))
  AND s.gone_at IS NOT NULL AND s.gone_at + interval '0' <= @recent
