-- The installation that the ledger belongs to.
SELECT name FROM sandkeeper.installation
