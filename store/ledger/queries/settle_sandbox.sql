-- Remembers that a sandbox is gone, as the provider confirmed, and that we ended it, where we asked for it. What we ended
-- before any pass took it down is remembered as well: a listing may show it for long.
WITH known AS (
    UPDATE sandkeeper.sandboxes
    SET gone_by_us = gone_by_us OR @ours, gone_at = coalesce(gone_at, @now), state = 'ended',
        state_since = CASE WHEN state = 'ended' THEN state_since ELSE @now END
    WHERE provider = @provider AND id = @sandbox
    RETURNING id)
INSERT INTO sandkeeper.sandboxes AS s (provider, id, name, task, template, state, raw, first_seen, state_since, gone_at,
    gone_by_us)
SELECT @provider::text, @sandbox::text, '', '', '', 'ended', '', @now::timestamptz, @now::timestamptz, @now::timestamptz, true
WHERE @ours::boolean AND NOT EXISTS (SELECT FROM known)
ON CONFLICT (provider, id) DO UPDATE SET gone_by_us = true, gone_at = coalesce(s.gone_at, @now), state = 'ended',
    state_since = @now
