package tasks

import (
	"embed"

	"github.com/sandkeeper/sandkeeper/store"
)

//go:embed queries/*.sql
var queryFiles embed.FS

var queries = store.Queries(queryFiles)
