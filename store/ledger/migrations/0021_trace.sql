-- The trace of a task's own work, as its row names it: its page shows it, found to be wrong or not.
ALTER TABLE sandkeeper.task_states ADD COLUMN trace text NOT NULL DEFAULT '';
