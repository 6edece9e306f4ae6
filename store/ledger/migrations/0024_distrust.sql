-- Why a source is not trusted, as a fact with its figures, where only a sentence said it. It stays NULL where a program
-- of the version before wrote the row, as one may that is in the midst of its pass now: that row's sentence is read.
-- The sentence is written on.
ALTER TABLE sandkeeper.sources ADD COLUMN distrust jsonb;
