-- All lines of the timeline.
SELECT number, at, subject, kind, what FROM sandkeeper.timeline ORDER BY number
