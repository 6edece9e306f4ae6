-- Takes a lowered mode back.
DELETE FROM sandkeeper.modes WHERE rule = @rule
