-- Finds a live row to try a write on, and locks it unless somebody else has: it is rolled back.
SELECT ({{.ID}})::text AS id, ({{.Status}})::text AS status, coalesce(({{.Sandbox}})::text, '') AS sandbox
FROM {{.Table}}
WHERE {{.Live}}
LIMIT 1{{if .Lock}}
FOR NO KEY UPDATE SKIP LOCKED{{end}}
