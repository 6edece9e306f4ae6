-- Whether the schema is there.
SELECT to_regnamespace('sandkeeper') IS NOT NULL
