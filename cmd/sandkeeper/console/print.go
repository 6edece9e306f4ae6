package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// Stdio is where a verb writes: results to Out, everything else to Err.
type Stdio struct {
	Out, Err  io.Writer
	Libraries *Libraries // what libraries log by themselves; nil: it is left as it is
}

// PrintJSON writes a result for programs.
func PrintJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(asciiJSON{w})
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

// PrintJSONLine writes one of many results for programs, on a line of its own.
func PrintJSONLine(w io.Writer, v any) error {
	enc := json.NewEncoder(asciiJSON{w})
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

// Print writes what was put together.
func Print(w io.Writer, b *bytes.Buffer) error {
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

// Table lines the cells up that are written to it, with a tab after each but the last of a
// line. Flush ends it.
func Table(w io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(w, 0, 0, 2, ' ', 0) }

// Lines is a text of several lines, each as [text.Line].
func Lines(said string) string {
	lines := strings.Split(said, "\n")
	for i := range lines {
		lines[i] = text.Line(lines[i])
	}
	return strings.Join(lines, "\n")
}

// Plural is a number with its noun.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "s") || strings.HasSuffix(noun, "x") {
		return fmt.Sprintf("%d %ses", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
