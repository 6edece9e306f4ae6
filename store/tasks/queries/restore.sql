-- Takes our own write of one task row back: only while the row has the version of that
-- write and carries its mark. This is the one write that a terminal row allows.
UPDATE {{.Table}}
SET {{range $i, $c := .Columns}}{{if $i}},
    {{end}}{{$c.Name}} = {{$c.Value}}{{end}}
WHERE {{.ID}}
  -- guard:sql-restore-version P2
  AND xmin::text = @after::text
  -- guard:sql-restore-mark P2
  AND ({{range $i, $r := .Marked}}{{if $i}} OR {{end}}strpos({{$r}}::text, @mark::text) > 0{{end}})
RETURNING coalesce({{.State}}, '') AS state, xmin::text AS version
