-- This platform knows several providers, and where each task was sent.
ALTER TABLE tasks ADD COLUMN provider varchar(32)
