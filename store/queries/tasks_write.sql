-- Changes one task row, only while it is as it was judged: its status, its sandbox, live,
-- its version unless it is locked, and no newer life sign where one refutes the verdict.
UPDATE {{.Table}}
SET {{.Status}} = {{.NewStatus}}
    {{- range .Sets}},
    {{.Column}} = ({{.SQL}}){{end}}
WHERE {{.ID}}
  -- guard:sql-write-status P2 a row whose status moved on would be written
  AND ({{.Status}})::text = @status::text
  -- guard:sql-write-sandbox P2 a row that got another sandbox would be written
  AND {{.Sandbox}} = @sandbox::text
  -- guard:sql-write-live P2 a row that is over would be written
  AND {{.Live}}
  {{- if .Version}}
  -- guard:sql-write-version P2 a row that changed since it was judged would be written
  AND xmin::text = @version::text{{end}}
  {{- with .Alive}}
  -- guard:sql-write-alive P14 a life sign that arrives during the write would not refute it
  AND NOT ({{.}}){{end}}
RETURNING coalesce({{.State}}, '') AS state, xmin::text AS version
