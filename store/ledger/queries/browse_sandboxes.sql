-- Sandboxes that exist and that somebody chose, by provider and id.
SELECT s.provider, s.id, s.name, s.task, s.template, s.state, s.raw, s.created_at, s.first_seen,
       s.state_since, s.resumed_at, s.ran_at, s.gone_at, s.gone_by_us, s.probe, s.probe_detail,
       s.probed_at, s.probe_took_us, s.last_answered, s.probe_failures, s.vitals, s.worked_at,
       s.probe_worker, s.probe_worker_at, s.probe_run_ended, s.region, s.cpu, s.gpu, s.memory_gib
FROM sandkeeper.sandboxes s
WHERE s.gone_at IS NULL AND (s.provider, s.id) > (@after_provider::text, @after_id::text)
  AND (@provider::text = '' OR s.provider = @provider)
  AND (@template::text = '' OR s.template = @template) AND (@state::text IN ('', 'live') OR s.state = @state)
  AND (@text::text = '' OR strpos(s.id, @text) > 0 OR strpos(s.name, @text) > 0 OR strpos(s.task, @text) > 0
       OR strpos(s.template, @text) > 0)
ORDER BY s.provider, s.id
LIMIT @most
