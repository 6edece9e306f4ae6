-- Tells the events table of a task that was failed.
INSERT INTO {{.Table}} ({{.Sandbox}}, {{.Type}}, {{.At}}{{with .Data}}, {{.}}{{end}})
VALUES ({{.SandboxValue}}, {{.TypeValue}}, statement_timestamp(){{with .DataValue}}, {{.}}{{end}})
