-- What is spent: remedies begun in this pass, of these the ones that destroy something,
-- and remedies begun in the rolling hour.
SELECT count(*) FILTER (WHERE begun_pass = @pass),
       count(*) FILTER (WHERE begun_pass = @pass AND begun_shared),
       count(*) FILTER (WHERE begun_at > @hour_ago)
FROM sandkeeper.actions
WHERE begun_pass = @pass OR begun_at > @hour_ago
