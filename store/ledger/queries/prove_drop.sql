-- Lets the next one read it at once.
UPDATE sandkeeper.proving SET until = @now WHERE holder = @holder
