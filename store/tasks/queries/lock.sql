-- Locks the row that a repair writes, where the task is read from elsewhere.
SELECT true FROM {{.Table}}
WHERE {{.Key}}
-- guard:sql-write-lock-apart P2
FOR NO KEY UPDATE {{.Wait}}
