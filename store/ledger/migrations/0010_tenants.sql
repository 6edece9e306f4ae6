-- Whose a task is: what one tenant's rows show counts once.
ALTER TABLE sandkeeper.task_states
    ADD tenant text NOT NULL DEFAULT '';
