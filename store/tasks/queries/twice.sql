-- Names a few tasks that come more than once.
SELECT ({{.ID}})::text FROM {{.From}} WHERE {{.Live}} GROUP BY 1 HAVING count(*) > 1 ORDER BY 1 LIMIT 3
