-- Lists the statuses in the table. With an index each is looked up after the one before;
-- without one, a bounded number of rows is read.
{{- if .Indexed}}
WITH RECURSIVE found AS (
    SELECT min({{.Column}}) AS status FROM {{.Table}}
    UNION ALL
    SELECT (SELECT min({{.Column}}) FROM {{.Table}} WHERE {{.Column}} > found.status) FROM found WHERE found.status IS NOT NULL
)
SELECT status::text FROM found WHERE status IS NOT NULL LIMIT 200
{{- else}}
SELECT DISTINCT sample.status FROM (SELECT ({{.Column}})::text AS status FROM {{.Table}} LIMIT 100000) AS sample
WHERE sample.status IS NOT NULL LIMIT 200
{{- end}}
