-- Lists which of the given keys are held by a row that explains a sandbox.
SELECT DISTINCT ({{.Key}})::text
FROM {{.Table}}
WHERE {{.Among}}{{.Where}}
