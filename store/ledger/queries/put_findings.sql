-- Opens the findings that are new and brings the open ones up to date. When a finding was
-- opened never moves, even when its timers start anew.
WITH put AS (
    INSERT INTO sandkeeper.findings AS f (
        rule, subject, provider, sandbox, task, reason, evidence, first_seen, last_seen,
        sighted_at, sightings, due, held_by, opened_at, incident)
    SELECT u.rule, u.subject, u.provider, u.sandbox, u.task, u.reason, u.evidence::jsonb, u.first_seen,
           u.last_seen, u.sighted_at, u.sightings, u.due,
           ARRAY(SELECT jsonb_array_elements_text(u.held_by::jsonb)), @now::timestamptz, u.incident
    FROM unnest(
        @rules::text[], @subjects::text[], @providers::text[], @sandboxes::text[], @tasks::text[],
        @reasons::text[], @evidence::text[], @first_seen::timestamptz[], @last_seen::timestamptz[],
        @sighted_at::timestamptz[], @sightings::integer[], @due::boolean[], @held_by::text[],
        @incidents::text[])
        u (rule, subject, provider, sandbox, task, reason, evidence, first_seen, last_seen,
           sighted_at, sightings, due, held_by, incident)
    ON CONFLICT (rule, subject) WHERE resolved_at IS NULL DO UPDATE SET
        provider = excluded.provider, sandbox = excluded.sandbox, task = excluded.task,
        reason = excluded.reason, evidence = excluded.evidence, first_seen = excluded.first_seen,
        last_seen = excluded.last_seen, sighted_at = excluded.sighted_at,
        sightings = excluded.sightings, due = excluded.due, held_by = excluded.held_by,
        incident = excluded.incident
    RETURNING f.rule, f.provider, (xmax = 0) AS opened
)
INSERT INTO sandkeeper.counters AS c (name, rule, provider, what, value)
SELECT 'findings_opened', rule, provider, '', count(*) FROM put WHERE opened GROUP BY 2, 3 ORDER BY 2, 3
ON CONFLICT (name, rule, provider, what) DO UPDATE SET value = c.value + excluded.value
