-- Keeps thresholds that were learned.
INSERT INTO sandkeeper.learned (rule, class, at, after_us, target_us, from_us, samples, dead, frozen, sum, line, seal)
SELECT * FROM unnest(@rules::text[], @classes::text[], @at::timestamptz[], @after::bigint[], @target::bigint[],
    @before::bigint[], @samples::integer[], @dead::double precision[], @frozen::boolean[], @sums::text[],
    @lines::text[], @seals::text[])
