-- What is known of how often rules are wrong here.
SELECT rule, class, kind, sum, made_at, samples, false_positives, upper_bound, lower_bound, line, took_us, seal
FROM sandkeeper.proofs ORDER BY rule, class, kind
