-- Writes what the provider's probes have used of their minute.
UPDATE sandkeeper.probe_budgets SET minute = @minute, used = @used WHERE provider = @provider
