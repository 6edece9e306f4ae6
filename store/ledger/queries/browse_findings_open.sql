-- Open findings that somebody chose, newest first. Of the text it asks whether it is a part.
SELECT rule, subject, provider, sandbox, task, reason, evidence, first_seen, last_seen,
       sighted_at, sightings, due, held_by, opened_at, resolved_at, incident, number
FROM sandkeeper.findings
WHERE resolved_at IS NULL AND (@at::timestamptz IS NULL OR opened_at <= @at AND (opened_at, number) < (@at, @key::bigint))
  AND (@rule::text = '' OR rule = @rule) AND (@provider::text = '' OR provider = @provider)
  AND (@template::text = '' OR subject = 'template:' || provider || '/' || @template
       OR EXISTS (SELECT FROM sandkeeper.sandboxes b WHERE b.provider = findings.provider AND b.id = findings.sandbox
               AND b.template = @template))
  AND (@incident::text = '' OR incident = @incident) AND (@held_by::text[] IS NULL OR EXISTS (
      SELECT FROM unnest(held_by) h, unnest(@held_by) b WHERE h = b OR starts_with(h, b || ' ')))
  AND CASE @state::text WHEN 'due' THEN due AND held_by = '{}' WHEN 'held' THEN due AND held_by <> '{}'
      WHEN 'watched' THEN NOT due ELSE true END
  AND (@text::text = '' OR strpos(subject, @text) > 0 OR strpos(task, @text) > 0 OR strpos(sandbox, @text) > 0)
ORDER BY opened_at DESC, number DESC
LIMIT @most
