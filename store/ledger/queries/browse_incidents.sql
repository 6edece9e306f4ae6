-- Incidents that somebody chose, in the order of one column, as browse_findings_sorted.sql has it; without one, those that
-- are open first, then those that were closed last. There are few: each is a cause, and old ones are deleted.
WITH chosen AS (
    SELECT *, CASE @sort::text WHEN 'rule' THEN rule WHEN 'provider' THEN provider WHEN 'id' THEN id
               WHEN 'failures' THEN lpad(count::text, 12, '0')
               WHEN '' THEN to_char(opened_at AT TIME ZONE 'UTC', 'YYYYMMDDHH24MISSUS') ELSE '' END COLLATE "C" AS word,
           CASE @sort WHEN 'age' THEN first_seen WHEN '' THEN coalesce(closed_at, '9999-01-01 00:00Z')
               ELSE '-infinity' END AS moment
    FROM sandkeeper.incidents
    WHERE CASE @state::text WHEN 'open' THEN closed_at IS NULL WHEN 'closed' THEN closed_at IS NOT NULL ELSE true END
      AND (@rule::text = '' OR rule = @rule) AND (@provider::text = '' OR provider = @provider)
      AND (@template::text = '' OR template = @template OR strpos(cause, '"' || @template || '"') > 0)
      AND (@text::text = '' OR strpos(id, @text) > 0 OR strpos(template, @text) > 0 OR strpos(error, @text) > 0
           OR strpos(cause, @text) > 0)
)
SELECT id, signature, rule, provider, template, error, cause, evidence, opened_at, first_seen, last_seen,
       closed_at, count, cost, released_at, released_by, released_why, release_seal,
       acked_at, acked_by, acked_why,
       id, word, nullif(moment, '-infinity')
FROM chosen
WHERE NOT @later::boolean
   OR CASE WHEN @down::boolean
           THEN (moment, word) < (coalesce(@at::timestamptz, '-infinity'), @word::text COLLATE "C")
             OR (moment, word) = (coalesce(@at, '-infinity'), @word) AND id > @key::text
           ELSE (moment, word, id) > (coalesce(@at, '-infinity'), @word COLLATE "C", @key::text) END
ORDER BY CASE WHEN @down THEN moment END DESC, CASE WHEN @down THEN word END DESC, moment, word, id
LIMIT @most
