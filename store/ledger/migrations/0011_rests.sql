-- Tasks that rest: parked, or waiting by design.
ALTER TABLE sandkeeper.task_states DROP CONSTRAINT task_states_state_check;
ALTER TABLE sandkeeper.task_states ADD CONSTRAINT task_states_state_check
    CHECK (state IN ('', 'pending', 'assigned', 'running', 'completed', 'failed', 'stopped', 'parked', 'waiting'));
