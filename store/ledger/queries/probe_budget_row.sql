-- Makes the provider's budget row, so that there is one to lock.
INSERT INTO sandkeeper.probe_budgets (provider) VALUES (@provider) ON CONFLICT DO NOTHING
