package main

import (
	"io"
	"log/slog"
)

// newLog writes the log as the config says. Results go to stdout, the log to stderr.
func newLog(w io.Writer, c LogConfig) *slog.Logger {
	o := &slog.HandlerOptions{Level: c.Level}
	if c.Format == "text" {
		return slog.New(slog.NewTextHandler(w, o))
	}
	return slog.New(slog.NewJSONHandler(w, o))
}
