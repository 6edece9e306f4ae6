-- Remembers what the provider said of a canary.
UPDATE sandkeeper.canaries SET sandbox = @sandbox, error = @error WHERE name = @name
