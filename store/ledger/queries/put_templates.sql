-- Remembers how the templates were at the last look.
INSERT INTO sandkeeper.templates (
    provider, name, state, raw, error, last_start, last_used, expires_at, looked_at)
SELECT * FROM unnest(
    @providers::text[], @names::text[], @states::text[], @raw::text[], @errors::text[],
    @last_start::timestamptz[], @last_used::timestamptz[], @expires_at::timestamptz[],
    @looked_at::timestamptz[])
ON CONFLICT (provider, name) DO UPDATE SET
    state = excluded.state, raw = excluded.raw, error = excluded.error,
    last_start = excluded.last_start, last_used = excluded.last_used,
    expires_at = excluded.expires_at, looked_at = excluded.looked_at
