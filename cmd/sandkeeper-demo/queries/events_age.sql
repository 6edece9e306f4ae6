-- Makes all events lie further back, for a story that is in a hurry.
UPDATE sandbox_events SET created_at = created_at - @age::interval
