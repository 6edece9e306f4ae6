package queue

import (
	"embed"
	"path"
	"strings"
)

//go:embed queries/*.sql
var queryFiles embed.FS

// queries holds the statements by file name without its ending.
var queries = loadQueries()

func loadQueries() map[string]string {
	entries, err := queryFiles.ReadDir("queries")
	if err != nil {
		panic("embedded queries: " + err.Error())
	}
	loaded := map[string]string{}
	for _, e := range entries {
		text, err := queryFiles.ReadFile(path.Join("queries", e.Name()))
		if err != nil {
			panic("embedded query " + e.Name() + ": " + err.Error())
		}
		loaded[strings.TrimSuffix(e.Name(), ".sql")] = string(text)
	}
	return loaded
}
