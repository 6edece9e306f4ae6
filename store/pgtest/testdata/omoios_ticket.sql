-- A project whose tasks are started without being asked, and a ticket of it.
INSERT INTO projects (id, name, autonomous_execution_enabled) VALUES ('project', 'Project', true);

INSERT INTO tickets (id, title, phase_id, status, priority, created_at, updated_at, project_id)
VALUES ('ticket', 'Ticket', 'PHASE_IMPLEMENTATION', 'building', 'MEDIUM', now(), now(), 'project');
