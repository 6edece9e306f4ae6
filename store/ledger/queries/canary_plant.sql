-- Takes a slot of time for a canary, unless somebody has, one is still there, or a day has had its number of them.
INSERT INTO sandkeeper.canaries (slot, provider, name, planted_at)
SELECT @slot::text, @provider::text, @name::text, @now::timestamptz
WHERE (SELECT count(*) FROM sandkeeper.canaries WHERE planted_at > @day) < @per_day::bigint
  AND NOT EXISTS (
      SELECT FROM sandkeeper.canaries c
      LEFT JOIN sandkeeper.sandboxes s ON s.provider = c.provider AND s.id = c.sandbox AND c.sandbox <> ''
      WHERE c.planted_at > @day AND s.gone_at IS NULL AND (c.sandbox <> '' OR c.error = ''))
ON CONFLICT (slot) DO NOTHING
