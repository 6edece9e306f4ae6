-- Begins each transaction on the task database: its clock, read before any row, and what
-- the statements rely on. Columns without time zone are read and written in the time zone
-- of the config; a plan must know the statuses, or the index on them is not used.
SELECT clock_timestamp() AS now,
       set_config('TimeZone', @timezone, true),
       set_config('plan_cache_mode', 'force_custom_plan', true),
       set_config('jit', 'off', true)
