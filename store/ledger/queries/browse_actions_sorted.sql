-- Open actions that somebody chose, in the order of one column, as browse_findings_sorted.sql has it.
WITH chosen AS (
    SELECT *, CASE @sort::text WHEN 'rule' THEN rule WHEN 'step' THEN step WHEN 'outcome' THEN outcome
               WHEN 'subject' THEN subject ELSE '' END COLLATE "C" AS word,
           CASE @sort WHEN 'age' THEN coalesce(planned_at, '-infinity') ELSE '-infinity' END AS moment
    FROM sandkeeper.actions
    WHERE closed_at IS NULL
      AND (@rule::text = '' OR rule = @rule) AND (@provider::text = '' OR provider = @provider)
      AND (@step::text = '' OR step = @step) AND (@outcome::text = '' OR outcome = @outcome)
      AND (@author::text = '' OR author = @author)
      AND (@text::text = '' OR strpos(subject, @text) > 0 OR strpos(task, @text) > 0 OR strpos(sandbox, @text) > 0)
)
SELECT id, remedy, seq, pass, rule, subject, provider, sandbox, task, step, reason, evidence,
       row_only, outcome, detail, attempts, planned_at, claimed_at, claimed_by, claim_ends,
       acted_at, closed_at, next_attempt, first_acted_at, asked_at, asks, began, signature, author, running, anyway,
       row_before, seal, how, waits_for,
       id, word, nullif(moment, '-infinity')
FROM chosen
WHERE NOT @later::boolean
   OR CASE WHEN @down::boolean
           THEN (moment, word) < (coalesce(@at::timestamptz, '-infinity'), @word::text COLLATE "C")
             OR (moment, word) = (coalesce(@at, '-infinity'), @word) AND id > @key::text
           ELSE (moment, word, id) > (coalesce(@at, '-infinity'), @word COLLATE "C", @key::text) END
ORDER BY CASE WHEN @down THEN moment END DESC, CASE WHEN @down THEN word END DESC, moment, word, id
LIMIT @most
