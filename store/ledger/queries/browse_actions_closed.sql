-- Closed actions that somebody chose, those that were closed last first. Of the text it asks whether it is a part.
SELECT id, remedy, seq, pass, rule, subject, provider, sandbox, task, step, reason, evidence,
       row_only, outcome, detail, attempts, planned_at, claimed_at, claimed_by, claim_ends,
       acted_at, closed_at, next_attempt, first_acted_at, asked_at, asks, began, signature, author, running, anyway,
       row_before, seal, how, waits_for
FROM sandkeeper.actions
WHERE closed_at IS NOT NULL AND (@at::timestamptz IS NULL OR closed_at <= @at AND (closed_at, id) < (@at, @key::text))
  AND (@rule::text = '' OR rule = @rule) AND (@provider::text = '' OR provider = @provider)
  AND (@step::text = '' OR step = @step) AND (@outcome::text = '' OR outcome = @outcome)
  AND (@author::text = '' OR author = @author)
  AND (@text::text = '' OR strpos(subject, @text) > 0 OR strpos(task, @text) > 0 OR strpos(sandbox, @text) > 0)
ORDER BY closed_at DESC, id DESC
LIMIT @most
