-- Adds lines to subjects' histories.
INSERT INTO sandkeeper.timeline (at, subject, kind, what)
SELECT * FROM unnest(@at::timestamptz[], @subjects::text[], @kinds::text[], @what::text[])
