-- Lets what locks much at once give up before PostgreSQL would look for a deadlock, and end somebody else's transaction.
SET LOCAL lock_timeout = '200ms'
