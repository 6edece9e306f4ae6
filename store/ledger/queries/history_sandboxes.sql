-- Sandboxes that go by this id, name or provider/id, or that name it as their task.
SELECT s.provider, s.id, s.name, s.task, s.template, s.state, s.raw, s.created_at, s.first_seen,
       s.state_since, s.resumed_at, s.ran_at, s.gone_at, s.gone_by_us, s.probe, s.probe_detail,
       s.probed_at, s.probe_took_us, s.last_answered, s.probe_failures, s.vitals, s.worked_at,
       s.probe_worker, s.probe_worker_at, s.probe_run_ended, s.region, s.cpu, s.gpu, s.memory_gib
FROM sandkeeper.sandboxes s
WHERE s.id = @id OR s.name = @id AND s.name <> '' OR s.task = @id AND s.task <> ''
   OR (s.provider = @provider AND s.id = @sandbox)
ORDER BY s.first_seen DESC NULLS LAST, s.provider, s.id
LIMIT @most
