-- Stamps the ledger with the name of its installation, once.
INSERT INTO sandkeeper.installation (name, stamped_at) VALUES (@name, @now) ON CONFLICT DO NOTHING
