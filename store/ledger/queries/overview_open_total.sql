-- How many actions are open.
SELECT count(*) FROM sandkeeper.actions WHERE closed_at IS NULL
