-- Reads what a guarded write rests on. A locked row is locked as an update without a new
-- key locks it, so that others may still refer to it. What the write will set is read with
-- it, for restore.
SELECT coalesce(({{.Status}})::text = @status::text AND {{.Sandbox}} = @sandbox::text AND {{.Live}}, false) AS stands,
       {{with .Alive}}{{.}}{{else}}false{{end}} AS alive,
       ARRAY[{{.Before}}] AS before
FROM {{.Table}}
WHERE {{.ID}}
{{- if .Lock}}
FOR NO KEY UPDATE{{end}}
