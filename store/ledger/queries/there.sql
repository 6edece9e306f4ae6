-- Counts a provider's sandboxes that were there in some time.
SELECT count(*) FROM sandkeeper.sandboxes
WHERE provider = @provider::text AND (gone_at IS NULL OR gone_at >= now() - @within::interval)
