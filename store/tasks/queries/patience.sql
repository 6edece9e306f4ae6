-- Lets a trial wait for no lock for long: somebody may be at work on the row.
SELECT set_config('lock_timeout', '1s', true)
