package console

import (
	"io"
	"log/slog"
)

// NewLog writes the log as the config says. Results go to stdout, the log to stderr.
func NewLog(w io.Writer, format string, level slog.Leveler) *slog.Logger {
	if OnTerminal(w) {
		w = lineWiper{w}
	}
	o := &slog.HandlerOptions{Level: level}
	if format == "text" {
		return slog.New(slog.NewTextHandler(w, o))
	}
	return slog.New(slog.NewJSONHandler(asciiJSON{w}, o))
}

// lineWiper writes on a terminal where progress may stand on the line.
type lineWiper struct{ w io.Writer }

func (l lineWiper) Write(line []byte) (int, error) {
	if _, err := l.w.Write(append([]byte("\r\x1b[K"), line...)); err != nil {
		return 0, err
	}
	return len(line), nil
}
