-- As ledger_fence, but a lease that ran out and that nobody took since is good enough: to
-- write down what was done is never too late.
SELECT epoch FROM sandkeeper.leases
WHERE name = 'pass' AND holder = @holder AND epoch = @epoch
FOR KEY SHARE
