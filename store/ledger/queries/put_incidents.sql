-- Opens incidents and brings them up to date. When one was opened and that a person has
-- released it are not a pass's to change: the release may have come while the pass ran.
INSERT INTO sandkeeper.incidents (
    id, signature, rule, provider, template, error, cause, evidence, opened_at, first_seen, last_seen,
    closed_at, count, cost)
SELECT u.id, u.signature, u.rule, u.provider, u.template, u.error, u.cause, u.evidence::jsonb, u.opened_at,
       u.first_seen, u.last_seen, u.closed_at, u.count, u.cost
FROM unnest(
    @ids::text[], @signatures::text[], @rules::text[], @providers::text[], @templates::text[], @errors::text[],
    @causes::text[], @evidence::text[], @opened_at::timestamptz[], @first_seen::timestamptz[],
    @last_seen::timestamptz[], @closed_at::timestamptz[], @counts::integer[], @costs::double precision[])
    u (id, signature, rule, provider, template, error, cause, evidence, opened_at, first_seen, last_seen,
       closed_at, count, cost)
ORDER BY u.id
ON CONFLICT (id) DO UPDATE SET
    signature = excluded.signature, rule = excluded.rule, provider = excluded.provider,
    template = excluded.template, error = excluded.error, cause = excluded.cause, evidence = excluded.evidence,
    first_seen = excluded.first_seen, last_seen = excluded.last_seen, closed_at = excluded.closed_at,
    count = excluded.count, cost = excluded.cost
