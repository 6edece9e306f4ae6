-- What the last backtests of rules came to by threshold.
SELECT rule, made_at, curve FROM sandkeeper.proof_curves ORDER BY rule
