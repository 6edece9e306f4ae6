-- What the platform's program fills in before it writes a row, as defaults of views: the
-- tables have no such defaults, and who writes to them directly has to bring everything.
CREATE SCHEMA program;

CREATE VIEW program.tasks AS SELECT * FROM public.tasks;

ALTER VIEW program.tasks ALTER id SET DEFAULT gen_random_uuid();
ALTER VIEW program.tasks ALTER ticket_id SET DEFAULT 'ticket';
ALTER VIEW program.tasks ALTER phase_id SET DEFAULT 'PHASE_IMPLEMENTATION';
ALTER VIEW program.tasks ALTER task_type SET DEFAULT 'implement_feature';
ALTER VIEW program.tasks ALTER priority SET DEFAULT 'MEDIUM';
ALTER VIEW program.tasks ALTER status SET DEFAULT 'pending';
ALTER VIEW program.tasks ALTER created_at SET DEFAULT now();
ALTER VIEW program.tasks ALTER updated_at SET DEFAULT now();

CREATE VIEW program.sandbox_events AS SELECT * FROM public.sandbox_events;

ALTER VIEW program.sandbox_events ALTER id SET DEFAULT gen_random_uuid();
ALTER VIEW program.sandbox_events ALTER event_data SET DEFAULT '{}';
