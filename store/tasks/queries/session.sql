-- Begins each transaction on the task database: its clock, read before any row, and what
-- the statements rely on. Columns without time zone are read and written in the time zone
-- of the config; a plan must know the statuses, or the index on them is not used. A
-- backslash in a string of the config is a backslash, whatever role and URL say: else a
-- string could end elsewhere for the server than where it was checked to end. What the server itself has comes first
-- in the path, and what a session made for itself last.
SELECT clock_timestamp() AS now,
       set_config('TimeZone', @timezone, true),
       set_config('plan_cache_mode', 'force_custom_plan', true),
       set_config('jit', 'off', true),
       set_config('standard_conforming_strings', 'on', true),
       set_config('search_path', concat_ws(', ', 'pg_catalog', nullif(current_setting('search_path'), ''), 'pg_temp'), true)
