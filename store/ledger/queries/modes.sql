-- The lowered modes, and who lowered them.
SELECT rule, mode, author, reason, at FROM sandkeeper.modes
