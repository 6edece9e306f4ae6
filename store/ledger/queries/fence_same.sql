-- As ledger_fence, but a lease that ran out and that nobody took since is good enough: to
-- write down what was done is never too late.
SELECT epoch FROM sandkeeper.leases
WHERE name = 'pass'
  -- guard:sql-settle-fence-holder once
  AND holder = @holder
  -- guard:sql-settle-fence-epoch once
  AND epoch = @epoch
FOR KEY SHARE
