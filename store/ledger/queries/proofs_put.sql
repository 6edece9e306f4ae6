-- Keeps what is known of how often rules are wrong here.
INSERT INTO sandkeeper.proofs (rule, class, kind, sum, made_at, samples, false_positives, upper_bound, lower_bound, line,
    took_us, seal)
SELECT * FROM unnest(@rules::text[], @classes::text[], @kinds::text[], @sums::text[], @made::timestamptz[],
    @samples::integer[], @wrong::integer[], @upper::double precision[], @lower::double precision[], @lines::text[],
    @took::bigint[], @seals::text[])
ON CONFLICT (rule, class, kind) DO UPDATE SET sum = excluded.sum, made_at = excluded.made_at, samples = excluded.samples,
    false_positives = excluded.false_positives, upper_bound = excluded.upper_bound, lower_bound = excluded.lower_bound,
    line = excluded.line, took_us = excluded.took_us, seal = excluded.seal
