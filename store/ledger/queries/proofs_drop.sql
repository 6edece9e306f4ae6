-- Forgets what was known of rules before, of one kind of proof.
DELETE FROM sandkeeper.proofs WHERE kind = @kind AND rule = ANY (@rules::text[])
