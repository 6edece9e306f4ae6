-- Has a task run again that our own write failed: what a requeue sets, only while the row has the version of that write
-- and carries its mark. Whoever has touched the row since, or runs it again already, keeps it as it is.
UPDATE {{.Table}}
SET {{with .NewStatus}}{{$.Status}} = {{.}}{{end}}
    {{- range $i, $s := .Sets}}{{if or $i $.NewStatus}},{{end}}
    {{$s.Column}} = ({{$s.SQL}}){{end}}
WHERE {{.ID}}
  AND xmin::text = @after::text
  AND ({{range $i, $r := .Marked}}{{if $i}} OR {{end}}strpos({{$r}}::text, @mark::text) > 0{{end}})
RETURNING coalesce({{.State}}, '') AS state, xmin::text AS version
