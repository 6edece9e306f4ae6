-- Tasks that live and that somebody chose, in the order of one column, as browse_findings_sorted.sql has it.
WITH chosen AS (
    SELECT *, CASE @sort::text WHEN 'id' THEN id WHEN 'status' THEN status WHEN 'tenant' THEN tenant WHEN 'sandbox' THEN sandbox
               ELSE '' END COLLATE "C" AS word,
           CASE @sort WHEN 'age' THEN coalesce(since, '-infinity') ELSE '-infinity' END AS moment
    FROM sandkeeper.task_states
    WHERE live AND (@state::text IN ('', 'live') OR state = @state)
      AND (@template::text = '' OR EXISTS (SELECT FROM sandkeeper.sandboxes b WHERE b.task = task_states.id AND b.task <> ''
               AND b.template = @template))
      AND (@text::text = '' OR strpos(id, @text) > 0 OR strpos(sandbox, @text) > 0 OR strpos(status, @text) > 0)
)
SELECT id, status, state, sandbox, since, first_seen, updated_at, started_at, stale_start,
       ahead_sign, ahead_since, entry_sum, error_sum, error_changed, live, turns,
       recreated, late_sign, mark_sum, mark_at, beat_at, beat_gap, tenant, coalesce(named, sandbox), trace,
       id, word, nullif(moment, '-infinity')
FROM chosen
WHERE NOT @later::boolean
   OR CASE WHEN @down::boolean
           THEN (moment, word) < (coalesce(@at::timestamptz, '-infinity'), @word::text COLLATE "C")
             OR (moment, word) = (coalesce(@at, '-infinity'), @word) AND id COLLATE "C" > @key::text COLLATE "C"
           ELSE (moment, word, id COLLATE "C") > (
               coalesce(@at, '-infinity'), @word COLLATE "C", @key::text COLLATE "C") END
ORDER BY CASE WHEN @down THEN moment END DESC, CASE WHEN @down THEN word END DESC, moment, word, id COLLATE "C"
LIMIT @most
