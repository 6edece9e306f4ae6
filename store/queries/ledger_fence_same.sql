-- As ledger_fence, but a lease that ran out and that nobody took since is good enough: to
-- write down what was done is never too late.
SELECT epoch FROM sandkeeper.leases
WHERE name = 'pass'
  -- guard:sql-settle-fence-holder once another process would settle under the lease
  AND holder = @holder
  -- guard:sql-settle-fence-epoch once a process that was taken for dead would settle under its old lease
  AND epoch = @epoch
FOR KEY SHARE
