-- When each rule first found something, and who repaired what of its findings resolved since a
-- time: nobody, another rule, or an operator. What the rule did itself is among its verdicts.
-- A step is planned at its pass's own now, a moment before its record opens the finding. One that
-- was planned before, and was under way or confirmed while the finding was open, may be why it resolved as well.
-- What was gone, or on its way out (@adopted), before anybody asked for it was ended by nobody of us; an attempt of a
-- process that died may have, and one that is under way, of which nobody knows what came of it, also where it gave way to
-- an operator's (@taken), and one after which the task began anew, or its row went (@tried).
-- A row that we wrote may be why what is found of its task's sandbox is over; what is nobody's (@nobodys) may name any task.
-- What was to go (@going) goes because of that, however long its provider still lists it. Where the ledger's clock was
-- set back while a finding was open, it tells no order.
SELECT f.rule, min(f.opened_at),
       count(*) FILTER (WHERE f.resolved_at > @from AND r.who IS NULL),
       count(*) FILTER (WHERE r.who = 'rule'),
       count(*) FILTER (WHERE r.who = 'operator')
FROM sandkeeper.findings f LEFT JOIN LATERAL (
    SELECT CASE WHEN bool_or(a.rule = f.rule) THEN 'itself' WHEN bool_or(a.rule = ANY (@asked::text[])) THEN 'operator'
                WHEN count(*) > 0 THEN 'rule' END AS who
    FROM sandkeeper.actions a
    WHERE (a.subject = f.subject OR a.sandbox <> '' AND a.sandbox = f.sandbox AND a.provider = f.provider
           OR a.step IN ('fail', 'requeue', 'restore') AND f.task <> '' AND a.task = f.task AND f.rule <> @nobodys)
      AND a.how <> @adopted
      AND (a.outcome IN ('done', 'confirmed', 'accepted') OR a.first_acted_at IS NOT NULL
           OR (a.closed_at IS NULL OR a.how = @taken) AND a.attempts > 0 OR a.how = ANY (@tried::text[]))
      AND (a.planned_at <= f.resolved_at OR f.resolved_at < f.opened_at)
      AND (a.step <> 'terminate' OR a.first_acted_at IS NOT NULL OR a.attempts > 1
           OR (a.closed_at IS NULL OR a.how = @taken) AND a.attempts > 0)
      AND (greatest(a.planned_at, a.acted_at, coalesce(a.closed_at, 'infinity')) >= least(f.first_seen, f.opened_at)
           OR f.rule = @going AND a.step = 'terminate')
) r ON f.resolved_at > @from
GROUP BY f.rule
