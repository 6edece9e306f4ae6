-- Remembers that a sandbox is gone and that it was ended by us, as the provider confirmed.
UPDATE sandkeeper.sandboxes
SET gone_by_us = true, gone_at = coalesce(gone_at, @now), state = 'ended',
    state_since = CASE WHEN state = 'ended' THEN state_since ELSE @now END
WHERE provider = @provider AND id = @sandbox
