-- How far back the ledger's own clocks reach, and the rules that it knows.
SELECT watch_since, known_rules FROM sandkeeper.installation
