-- The lowered modes.
SELECT rule, mode FROM sandkeeper.modes
