-- Lets what locks much at once give up before PostgreSQL would look for a deadlock, and end somebody else's transaction.
SELECT set_config('lock_timeout', '200ms', true)
