-- Changes one task row, only while it is as it was judged: its status, its sandbox, live,
-- its version unless it is locked, and no newer life sign where one refutes the verdict.
UPDATE {{.Table}}
SET {{.Status}} = {{.NewStatus}}
    {{- range .Sets}},
    {{.Column}} = ({{.SQL}}){{end}}
WHERE {{.ID}}
  AND ({{.Status}})::text = @status::text
  AND {{.Sandbox}} = @sandbox::text
  AND {{.Live}}
  {{- if .Version}}
  AND xmin::text = @version::text{{end}}
  {{- with .Alive}}
  AND NOT ({{.}}){{end}}
RETURNING coalesce({{.State}}, '') AS state, xmin::text AS version
