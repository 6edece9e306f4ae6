-- Remembers that a sandbox is gone, as the provider confirmed, and that we ended it, where we asked for it.
UPDATE sandkeeper.sandboxes
SET gone_by_us = gone_by_us OR @ours, gone_at = coalesce(gone_at, @now), state = 'ended',
    state_since = CASE WHEN state = 'ended' THEN state_since ELSE @now END
WHERE provider = @provider AND id = @sandbox
