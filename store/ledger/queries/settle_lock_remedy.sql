-- Locks the steps of a remedy that end together, in their order.
SELECT FROM sandkeeper.actions
WHERE remedy = @remedy AND seq >= @seq AND closed_at IS NULL
ORDER BY seq, id
FOR UPDATE
