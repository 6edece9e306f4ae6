-- Ends the pause of a scope, also one that ran out by itself.
UPDATE sandkeeper.pauses SET lifted_at = @now WHERE scope = @scope AND lifted_at IS NULL
RETURNING until
