-- Keeps what backtests came to by threshold.
INSERT INTO sandkeeper.proof_curves (rule, made_at, curve)
SELECT * FROM unnest(@rules::text[], @made::timestamptz[], @curves::jsonb[])
ON CONFLICT (rule) DO UPDATE SET made_at = excluded.made_at, curve = excluded.curve
