-- Deletes old sums by the hour.
DELETE FROM sandkeeper.hours WHERE (hour, name, what) IN (
    SELECT hour, name, what FROM sandkeeper.hours WHERE hour < @before LIMIT @batch)
