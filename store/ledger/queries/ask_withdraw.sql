-- Withdraws steps, locked and judged before, for an operator.
UPDATE sandkeeper.actions SET outcome = 'withdrawn', detail = @detail, closed_at = @now,
    claimed_by = '', claim_ends = NULL
WHERE id = ANY(@ids::text[])
