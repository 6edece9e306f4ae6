-- The live rows come in buckets. What stands for all of them; or which buckets hold other rows than the sums say that
-- were taken of them before, or rows that read otherwise now, each with its sum; or the rows of some buckets and of
-- some keys of events, and what stands for each as it reads. A sum is of all that is read of a row, so that it needs to
-- know of no other change. In one table, where a row stands and which transaction wrote it stand for all its columns: in
-- one file, as a table that is written anew keeps who wrote its rows and moves them, and in one run of the server, as
-- after a restart or a crash such a number may come again. A foreign row has no file here, and reads otherwise each
-- time; one without an id cannot be asked for, and is left to those who read all. What expressions come to stands beside
-- them. Of a view two rows may read alike: there the sums tell how many there are as well. What this leaves out stands
-- until the next full pass, which reads every row.
WITH live AS (
{{- if .Columns}}
    SELECT {{range .Columns}}{{.SQL}} AS {{.Name}}, {{end}}hashtidextended(ctid, 0) & {{.Mask}} AS bucket,
        hashtidextended(ctid, (xmin::text::bigint + (tableoid::bigint << 32))
            # (SELECT hashtextextended(concat_ws(' ', pg_postmaster_start_time(), b.stats_reset), @seed)
                FROM pg_stat_bgwriter AS b)
            # coalesce(hashoidextended(pg_relation_filenode(tableoid), @seed),
                hashtextextended({{.ID}}, (extract(epoch FROM now()) * 1000000)::bigint))
            {{- if .Told}}
            # hash_record_extended(ROW({{range $i, $f := .Told}}{{if $i}}, {{end}}{{$f.SQL}}{{end}}), @seed)
            {{- end}}) AS sum
    FROM {{.Table}}
    WHERE {{.Where}} AND {{.ID}} IS NOT NULL
{{- else}}
    SELECT r.*, hashtextextended(r.sk_id, 0) & {{.Mask}} AS bucket, hash_record_extended(r, @seed) AS sum
    FROM (
        {{.Rows}}
    ) AS r
    WHERE r.sk_id IS NOT NULL
{{- end}}
)
{{- if eq .What "any"}}
SELECT coalesce(bit_xor(q.sum), 0) FROM live AS q
{{- else if eq .What "some"}}
SELECT q.sk_id, q.bucket, q.sum, coalesce({{.Key}} = ANY (@heard::text[]), false)
FROM live AS q
WHERE q.bucket = ANY (@buckets::bigint[]) OR {{.Key}} = ANY (@heard::text[])
{{- else}}
SELECT coalesce(now.bucket, was.bucket)::bigint, coalesce(now.sum, 0)
FROM (
    SELECT q.bucket, bit_xor(q.sum){{if not .Columns}} # hashint8extended(count(*), @seed){{end}} AS sum
    FROM live AS q
    GROUP BY q.bucket
) AS now
FULL JOIN (
    SELECT place - 1 AS bucket, sum FROM unnest(@sums::bigint[]) WITH ORDINALITY AS u (sum, place)
) AS was USING (bucket)
WHERE coalesce(now.sum, 0) <> coalesce(was.sum, 0)
{{- end}}
