-- Withdraws steps, locked and judged before, for an operator.
UPDATE sandkeeper.actions SET outcome = 'withdrawn', detail = @detail, how = @how, waits_for = '{}',
    closed_at = @now,
    claimed_by = '', claim_ends = NULL
WHERE id = ANY(@ids::text[])
