-- The newest canaries, newest first, with what passes and actions made of their sandboxes.
SELECT c.slot, c.provider, c.name, c.sandbox, c.error, c.planted_at, f.found_at, a.judged_at, a.acted_at,
       s.gone_at, coalesce(s.gone_by_us, false)
FROM (SELECT * FROM sandkeeper.canaries ORDER BY planted_at DESC, slot LIMIT @most) c
LEFT JOIN sandkeeper.sandboxes s ON s.provider = c.provider AND s.id = c.sandbox
LEFT JOIN LATERAL (
    SELECT min(f.opened_at) found_at FROM sandkeeper.findings f
    WHERE c.sandbox <> '' AND f.sandbox <> '' AND f.sandbox = c.sandbox AND f.provider = c.provider AND f.rule = @rule) f ON true
LEFT JOIN LATERAL (
    SELECT min(a.planned_at) judged_at, min(a.first_acted_at) acted_at FROM sandkeeper.actions a
    WHERE c.sandbox <> '' AND a.sandbox <> '' AND a.sandbox = c.sandbox AND a.provider = c.provider AND a.rule = @rule) a ON true
ORDER BY c.planted_at DESC, c.slot
