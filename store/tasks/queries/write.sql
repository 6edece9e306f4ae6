-- Changes one task row, only while it is as it was judged: its status, its sandbox, live,
-- its version unless it is locked, and no newer life sign where one refutes the verdict. With a
-- key the row of another table is changed than the one that is read.
UPDATE {{.Written}}
SET {{with .NewStatus}}{{$.Status}} = {{.}}{{end}}
    {{- range $i, $s := .Sets}}{{if or $i $.NewStatus}},{{end}}
    {{$s.Column}} = ({{$s.SQL}}){{end}}
WHERE {{with .Key}}{{.}} AND EXISTS (SELECT FROM {{$.Table}} WHERE {{end}}{{.ID}}
  -- guard:sql-write-status P2
  AND ({{.Status}})::text = @status::text
  -- guard:sql-write-sandbox P2
  AND {{.Sandbox}} = @sandbox::text
  -- guard:sql-write-live P2
  AND {{.Live}}
  {{- if .Judged}}
  -- guard:sql-write-version P2
  AND {{$.Version}} = @version::text{{end}}
  {{- with .Alive}}
  -- guard:sql-write-alive P14
  AND NOT ({{.}}){{end}}
{{- if .Key}})
RETURNING '' AS state, 'set' AS version
{{- else}}
RETURNING coalesce({{.State}}, '') AS state, xmin::text AS version
{{- end}}
