-- Lists a provider's sandboxes that were there in some time and have no task that the ledger knows.
SELECT s.id, s.task
FROM sandkeeper.sandboxes AS s
WHERE s.provider = @provider::text AND (s.gone_at IS NULL OR s.gone_at >= now() - @within::interval)
  AND NOT EXISTS (SELECT FROM sandkeeper.task_states AS t WHERE t.id = s.task)
ORDER BY s.first_seen DESC, s.id
LIMIT 1000
