-- Lowers rules to observe, unless they were lowered before, and tells of each in its history.
WITH lowered AS (
    INSERT INTO sandkeeper.modes (rule, mode, author, reason, at)
    SELECT rule, 'observe', @author, reason, @now FROM unnest(@rules::text[], @reasons::text[]) u (rule, reason)
    WHERE coalesce((SELECT m.mode FROM sandkeeper.modes AS m WHERE m.rule = u.rule ORDER BY m.id DESC LIMIT 1), 'config')
          = 'config'
    ORDER BY rule
    RETURNING rule, mode, author, reason
), counted AS (
    INSERT INTO sandkeeper.counters AS c (name, rule, provider, what, value)
    SELECT 'demotions', rule, '', '', 1 FROM lowered
    ON CONFLICT (name, rule, provider, what) DO UPDATE SET value = c.value + excluded.value
)
INSERT INTO sandkeeper.timeline (at, subject, kind, what)
SELECT @now, 'rule:' || rule, 'operator', 'mode ' || mode || ' by ' || author || ': ' || reason FROM lowered
