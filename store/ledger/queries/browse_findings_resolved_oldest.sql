-- Resolved findings that somebody chose, those that were resolved first first. Of the text it asks whether it is a part.
SELECT rule, subject, provider, sandbox, task, reason, evidence, first_seen, last_seen,
       sighted_at, sightings, due, held_by, opened_at, resolved_at, incident, number
FROM sandkeeper.findings
WHERE resolved_at IS NOT NULL
  AND (@at::timestamptz IS NULL OR resolved_at >= @at AND (resolved_at, number) > (@at, @key::bigint))
  AND (@rule::text = '' OR rule = @rule) AND (@provider::text = '' OR provider = @provider)
  AND (@template::text = '' OR subject = 'template:' || provider || '/' || @template
       OR EXISTS (SELECT FROM sandkeeper.sandboxes b WHERE b.provider = findings.provider AND b.id = findings.sandbox
               AND b.template = @template))
  AND (@incident::text = '' OR incident = @incident) AND (@held_by::text[] IS NULL OR EXISTS (
      SELECT FROM unnest(held_by) h, unnest(@held_by) b WHERE h = b OR starts_with(h, b || ' ')))
  AND (@text::text = '' OR strpos(subject, @text) > 0 OR strpos(task, @text) > 0 OR strpos(sandbox, @text) > 0)
ORDER BY resolved_at, number
LIMIT @most
