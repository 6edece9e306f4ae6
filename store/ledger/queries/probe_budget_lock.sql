-- What the provider's probes have used of their minute, locked.
SELECT minute, used FROM sandkeeper.probe_budgets WHERE provider = @provider
-- guard:sql-probe-lock P7
FOR UPDATE
