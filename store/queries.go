package store

import (
	"embed"
	"path"
	"strings"
)

// Queries are the statements of an embedded folder "queries", by file name without its
// ending. The name is the query's name in Go and in errors.
func Queries(files embed.FS) map[string]string {
	entries, err := files.ReadDir("queries")
	if err != nil {
		panic("embedded queries: " + err.Error())
	}
	loaded := map[string]string{}
	for _, e := range entries {
		text, err := files.ReadFile(path.Join("queries", e.Name()))
		if err != nil {
			panic("embedded query " + e.Name() + ": " + err.Error())
		}
		loaded[strings.TrimSuffix(e.Name(), ".sql")] = string(text)
	}
	return loaded
}
