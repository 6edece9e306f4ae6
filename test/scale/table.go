package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
)

// A row compares one piece of work with its limit.
type row struct {
	Work  string  `json:"work"`
	Size  string  `json:"size"`
	Unit  string  `json:"unit"`
	Ours  float64 `json:"ours"`
	Bare  float64 `json:"bare"`
	Ratio float64 `json:"ratio"`
	Bound bool    `json:"bound,omitempty"` // the limit is one that ours may not be above
}

// A table is all that was measured, in the order of measuring.
type table struct {
	Rows []row `json:"rows"`
}

func (t *table) add(r row) {
	r.Ratio = round(r.Ours/r.Bare, 100)
	r.Ours, r.Bare = round(r.Ours, 100), round(r.Bare, 100)
	t.Rows = append(t.Rows, r)
	fmt.Fprintln(os.Stderr, r)
}

// cost adds the CPU time and the peak memory of a process.
func (t *table) cost(work, size string, ours, bare spent) {
	t.add(row{Work: work + ": CPU time", Size: size, Unit: "s", Ours: ours.cpu.Seconds(), Bare: bare.cpu.Seconds()})
	t.add(row{Work: work + ": peak memory", Size: size, Unit: "MB", Ours: ours.peak, Bare: bare.peak})
}

func round(x float64, to float64) float64 { return math.Round(x*to) / to }

func (r row) String() string {
	return fmt.Sprintf("| %s | %s | %s | %s | %.2f |", r.Work, r.Size, r.with(r.Ours), r.with(r.Bare), r.Ratio)
}

func (r row) with(n float64) string {
	if n >= 100 || r.Unit == "MB" {
		return fmt.Sprintf("%.0f %s", n, r.Unit)
	}
	return fmt.Sprintf("%.2f %s", n, r.Unit)
}

// String is the table as Markdown, which docs/scale.md shows.
func (t *table) String() string {
	var b strings.Builder
	b.WriteString("| work | size | ours | limit | ratio |\n|---|---|---|---|---|\n")
	for _, r := range t.Rows {
		fmt.Fprintln(&b, r)
	}
	return b.String()
}

func (t *table) write(name string) error {
	text, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(text, '\n'), 0o600)
}

// over is the table in a file with these rows in the place of its own.
func (t *table) over(name string) (*table, error) {
	out, err := readTable(name)
	if err != nil {
		return nil, err
	}
	for _, r := range t.Rows {
		same := func(o row) bool { return o.Work == r.Work && o.Size == r.Size }
		if at := slices.IndexFunc(out.Rows, same); at >= 0 {
			out.Rows[at] = r
		} else {
			out.Rows = append(out.Rows, r)
		}
	}
	return out, nil
}

func readTable(name string) (*table, error) {
	text, err := os.ReadFile(name) //nolint:gosec // the file that the caller of this tool names
	if err != nil {
		return nil, err
	}
	t := &table{}
	if err := json.Unmarshal(text, t); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return t, nil
}

// worse is how much worse than it was a ratio may be: two runs of the same program differ by less.
const worse = 1.10

// compare says what is worse than in a file, row by row. Sizes that one of both has not measured are left out.
func (t *table) compare(name string) error {
	old, err := readTable(name)
	if err != nil {
		return err
	}
	was := map[[2]string]row{}
	for _, r := range old.Rows {
		was[[2]string{r.Work, r.Size}] = r
	}
	var errs []error
	known := 0
	for _, r := range t.Rows {
		before, measured := was[[2]string{r.Work, r.Size}]
		switch {
		case r.Bound && r.Ratio > 1:
			errs = append(errs, fmt.Errorf("%s, %s: %s; it may be %s", r.Work, r.Size, r.with(r.Ours), r.with(r.Bare)))
		case !measured || r.Bound || r.Unit == "ms": // of some milliseconds two runs say nothing to each other
			continue
		}
		if known++; !r.Bound && r.Ratio > before.Ratio*worse {
			errs = append(errs, fmt.Errorf("%s, %s: the ratio is %.2f; it was %.2f", r.Work, r.Size, r.Ratio, before.Ratio))
		}
	}
	if known == 0 {
		return fmt.Errorf("nothing of %s was measured: take its sizes", name)
	}
	return errors.Join(errs...)
}

// thousands is a number as people read it: 1,000,000.
func thousands(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
