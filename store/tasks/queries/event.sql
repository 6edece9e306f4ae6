-- Tells the events table of a task that was failed.
INSERT INTO {{.Table}} ({{.At}}{{range .Sets}}, {{.Column}}{{end}})
VALUES (statement_timestamp(){{range .Sets}}, ({{.SQL}}){{end}})
