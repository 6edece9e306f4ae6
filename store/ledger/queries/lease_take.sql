-- Hands the lease to its new holder, who read it before, unless it is another one by now. It is locked against every
-- writer under it: a takeover waits for them.
WITH present AS (
    SELECT holder, epoch, expires_at FROM sandkeeper.leases WHERE name = 'pass'
    -- guard:sql-lease-lock once
    FOR UPDATE
)
UPDATE sandkeeper.leases l
SET holder = @holder, epoch = @epoch, taken_at = @now, expires_at = @until
FROM present
WHERE l.name = 'pass'
  -- guard:sql-lease-read once
  AND (present.holder, present.epoch, present.expires_at) IS NOT DISTINCT FROM
      (@read_holder::text, @read_epoch::bigint, @read_until::timestamptz)
