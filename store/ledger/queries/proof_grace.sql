-- Which rules act unproven for a while, because they did before.
SELECT rule, until FROM sandkeeper.proof_grace WHERE until > @now
