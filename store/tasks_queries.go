package store

import "embed"

//go:embed queries/tasks_*.sql
var taskQueryFiles embed.FS

var taskQueries = Queries(taskQueryFiles)
