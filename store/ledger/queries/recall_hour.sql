-- Remedies begun in the rolling hour.
SELECT count(*) FROM sandkeeper.actions WHERE begun_at > @hour_ago
