-- Reads what a guarded write rests on. A locked row is locked as an update without a new
-- key locks it, so that others may still refer to it. What the write will set is read with
-- it, for restore.
SELECT coalesce(true
           -- guard:sql-write-status P2
           AND ({{.Status}})::text = @status::text
           -- guard:sql-write-sandbox P2
           AND {{.Sandbox}} = @sandbox::text
           -- guard:sql-write-live P2
           AND {{.Live}}
       , false) AS stands,
       {{with .Alive}}{{.}}{{else}}false{{end}} AS alive,
       ARRAY[{{.Before}}]::text[] AS before
FROM {{.Table}}
WHERE {{.ID}}
{{- if .Lock}}
-- guard:sql-write-lock P2
FOR NO KEY UPDATE{{if .NoWait}} NOWAIT{{end}}{{end}}
