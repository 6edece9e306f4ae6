-- Sandboxes that exist and that somebody chose, in the order of one column, as browse_findings_sorted.sql has it.
WITH chosen AS (
    SELECT *, provider || '/' || id AS ref,
           CASE @sort::text WHEN 'id' THEN provider || '/' || id WHEN 'state' THEN state WHEN 'task' THEN task WHEN 'template' THEN template
               WHEN 'name' THEN name ELSE '' END COLLATE "C" AS word,
           CASE @sort WHEN 'age' THEN coalesce(first_seen, '-infinity') ELSE '-infinity' END AS moment
    FROM sandkeeper.sandboxes
    WHERE gone_at IS NULL
      AND (@provider::text = '' OR provider = @provider)
      AND (@template::text = '' OR template = @template) AND (@state::text IN ('', 'live') OR state = @state)
      AND (@text::text = '' OR strpos(id, @text) > 0 OR strpos(name, @text) > 0 OR strpos(task, @text) > 0
           OR strpos(template, @text) > 0)
)
SELECT provider, id, name, task, template, state, raw, created_at, first_seen,
       state_since, resumed_at, ran_at, gone_at, gone_by_us, probe, probe_detail,
       probed_at, probe_took_us, last_answered, probe_failures, vitals, worked_at,
       probe_worker, probe_worker_at, probe_run_ended, region, cpu, gpu, memory_gib,
       ref, word, nullif(moment, '-infinity')
FROM chosen
WHERE NOT @later::boolean
   OR CASE WHEN @down::boolean
           THEN (moment, word) < (coalesce(@at::timestamptz, '-infinity'), @word::text COLLATE "C")
             OR (moment, word) = (coalesce(@at, '-infinity'), @word)
                AND ref COLLATE "C" > @key::text COLLATE "C"
           ELSE (moment, word, ref COLLATE "C") > (
               coalesce(@at, '-infinity'), @word COLLATE "C", @key::text COLLATE "C") END
ORDER BY CASE WHEN @down THEN moment END DESC, CASE WHEN @down THEN word END DESC, moment, word, ref COLLATE "C"
LIMIT @most
