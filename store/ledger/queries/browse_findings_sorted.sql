-- Open findings that somebody chose, in the order of one column: of a word, or of when they were opened. What is open is
-- bounded by what there is, so it is all read, and the first rows are kept.
WITH chosen AS (
    SELECT *, CASE @sort::text WHEN 'rule' THEN rule WHEN 'subject' THEN subject
               WHEN 'state' THEN CASE WHEN NOT due THEN 'watched' WHEN held_by = '{}' THEN 'due' ELSE 'held' END
               ELSE '' END COLLATE "C" AS word,
           CASE @sort WHEN 'age' THEN opened_at ELSE '-infinity' END AS moment
    FROM sandkeeper.findings
    WHERE resolved_at IS NULL
      AND (@rule::text = '' OR rule = @rule) AND (@provider::text = '' OR provider = @provider)
      AND (@template::text = '' OR subject = 'template:' || provider || '/' || @template
           OR EXISTS (SELECT FROM sandkeeper.sandboxes b WHERE b.provider = findings.provider AND b.id = findings.sandbox
               AND b.template = @template))
      AND (@incident::text = '' OR incident = @incident) AND (@held_by::text[] IS NULL OR EXISTS (
      SELECT FROM unnest(held_by) h, unnest(@held_by) b WHERE h = b OR starts_with(h, b || ' ')))
      AND CASE @state::text WHEN 'due' THEN due AND held_by = '{}' WHEN 'held' THEN due AND held_by <> '{}'
          WHEN 'watched' THEN NOT due ELSE true END
      AND (@text::text = '' OR strpos(subject, @text) > 0 OR strpos(task, @text) > 0 OR strpos(sandbox, @text) > 0)
)
SELECT rule, subject, provider, sandbox, task, reason, evidence, first_seen, last_seen,
       sighted_at, sightings, due, held_by, opened_at, resolved_at, incident,
       number::text AS place, word, nullif(moment, '-infinity')
FROM chosen
WHERE NOT @later::boolean
   OR CASE WHEN @down::boolean
           THEN (moment, word) < (coalesce(@at::timestamptz, '-infinity'), @word::text COLLATE "C")
             OR (moment, word) = (coalesce(@at, '-infinity'), @word)
                AND number > coalesce(nullif(@key::text, '')::bigint, 0)
           ELSE (moment, word, number) > (
               coalesce(@at, '-infinity'), @word COLLATE "C", coalesce(nullif(@key::text, '')::bigint, 0)) END
ORDER BY CASE WHEN @down THEN moment END DESC, CASE WHEN @down THEN word END DESC, moment, word, number
LIMIT @most
