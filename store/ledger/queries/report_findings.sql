-- When each rule first found something, and how many of its findings resolved since a time
-- without anything of ours. A step is planned at the pass's own now, a moment before its
-- record opens the finding.
SELECT f.rule, min(f.opened_at), count(*) FILTER (
    WHERE f.resolved_at > @from AND NOT EXISTS (
        SELECT FROM sandkeeper.actions a
        WHERE a.subject = f.subject AND a.rule = f.rule AND a.outcome IN ('done', 'confirmed', 'accepted')
          AND a.planned_at >= least(f.first_seen, f.opened_at) AND a.planned_at <= f.resolved_at))
FROM sandkeeper.findings f GROUP BY f.rule
