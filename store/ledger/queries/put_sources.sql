-- Remembers how far each source is trusted.
INSERT INTO sandkeeper.sources (name, trusted, reason, since, recovered_at, last_trusted, clock, set_back, beat, distrust)
SELECT * FROM unnest(
    @names::text[], @trusted::boolean[], @reasons::text[], @since::timestamptz[],
    @recovered_at::timestamptz[], @last_trusted::timestamptz[], @clock::timestamptz[], @set_back::timestamptz[],
    @beats::bigint[], @distrusts::jsonb[])
ON CONFLICT (name) DO UPDATE SET
    trusted = excluded.trusted, reason = excluded.reason, since = excluded.since,
    recovered_at = excluded.recovered_at, last_trusted = excluded.last_trusted, clock = excluded.clock,
    set_back = excluded.set_back, beat = excluded.beat, distrust = excluded.distrust
