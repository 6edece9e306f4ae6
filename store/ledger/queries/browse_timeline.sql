-- The newest lines of the timeline, newest first. A line that was numbered early may be seen late, so whoever follows
-- asks for some below the last one again.
SELECT at, subject, kind, what, number
FROM sandkeeper.timeline
WHERE number > @after::bigint AND (@kind::text = '' OR kind = @kind)
  AND (@text::text = '' OR strpos(subject, @text) > 0 OR strpos(what, @text) > 0)
ORDER BY number DESC
LIMIT @most
