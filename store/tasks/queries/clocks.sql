-- Reads the newest value of each clock, over a bounded number of live and other rows.
SELECT {{range $i, $c := .Clocks}}{{if $i}}, {{end}}max(sample.{{$c.Name}}){{end}}
FROM (
    (SELECT {{range $i, $c := .Clocks}}{{if $i}}, {{end}}({{$c.SQL}})::timestamptz AS {{$c.Name}}{{end}} FROM {{.Table}} WHERE {{.Live}} LIMIT 10000)
    UNION ALL
    (SELECT {{range $i, $c := .Clocks}}{{if $i}}, {{end}}({{$c.SQL}})::timestamptz{{end}} FROM {{.Table}} LIMIT 10000)
) AS sample
