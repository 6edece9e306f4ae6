-- What people ask of the page: who did what, and an id by its beginning, also where the database's order of letters is
-- not that of bytes.
CREATE INDEX timeline_operators ON sandkeeper.timeline (at, number) WHERE kind = 'operator';
CREATE INDEX task_states_search ON sandkeeper.task_states (id text_pattern_ops);
CREATE INDEX sandboxes_search ON sandkeeper.sandboxes (id text_pattern_ops);
CREATE INDEX sandboxes_search_name ON sandkeeper.sandboxes (name text_pattern_ops) WHERE name <> '';
CREATE INDEX sandboxes_search_there ON sandkeeper.sandboxes (provider, id, name) WHERE gone_at IS NULL;
