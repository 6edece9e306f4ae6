-- What a row named when it was last seen live: a row that is over and names something else proves nothing of that.
-- NULL is from before this column, when the row counted as it stands.
ALTER TABLE sandkeeper.task_states ADD COLUMN named text;

-- Since when there are passes, for an installation whose passes never had a gap.
UPDATE sandkeeper.installation
SET watch_since = (SELECT min(began_at) FROM sandkeeper.passes WHERE complete)
WHERE watch_since IS NULL;
