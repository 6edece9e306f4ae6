-- Tells whether a task row is, in the columns that a write of ours set, as it was before.
SELECT {{range $i, $c := .Columns}}{{if $i}}
   AND {{end}}{{$c.Name}}::text IS NOT DISTINCT FROM ({{$c.Value}})::text{{end}}
FROM {{.Table}}
WHERE {{.ID}}
