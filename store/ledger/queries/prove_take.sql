-- Lets one process read the platform's history until a time, or for longer.
UPDATE sandkeeper.proving SET holder = @holder, until = @until WHERE holder = @holder OR until <= @now
