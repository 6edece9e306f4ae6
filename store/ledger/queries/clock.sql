-- The database's clock, which all replicas share.
SELECT clock_timestamp()
