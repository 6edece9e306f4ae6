-- How far back the ledger's own clocks reach, the rules that it knows, the end of the newest complete full pass, and the
-- ends of the newest complete passes. By number: a clock that was set back does not bring an old one to the front.
SELECT (SELECT watch_since FROM sandkeeper.installation), (SELECT known_rules FROM sandkeeper.installation), (
    SELECT ended_at FROM sandkeeper.passes
    WHERE kind = 'full' AND complete AND ended_at IS NOT NULL ORDER BY id DESC LIMIT 1
), ARRAY(SELECT ended_at FROM sandkeeper.passes WHERE complete ORDER BY id DESC LIMIT @most)
