-- Locks the sandbox before its action: a record takes them in this order, too.
SELECT FROM sandkeeper.sandboxes WHERE provider = @provider AND id = @sandbox FOR NO KEY UPDATE
