-- How many notices are still to be delivered.
SELECT count(*) FROM sandkeeper.notices WHERE closed_at IS NULL
