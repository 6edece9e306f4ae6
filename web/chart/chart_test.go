package chart

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC)

func TestChartsAreSound(t *testing.T) {
	evil := `"><script>alert(1)</script>`
	for name, c := range map[string]struct {
		svg  string
		want []string
	}{
		"two lines and a gap": {
			Lines("Tasks", "4 now", Series{Name: "tasks", Class: "one", Values: []float64{1, 2, Missing(), 4}}),
			[]string{`aria-label="Tasks: 4 now"`, `<path class="line one" d="M0.0 `, `M299.0`}},
		"nothing measured": {Lines("Tasks", "", Series{Values: []float64{Missing(), Missing()}}), []string{"<title>"}},
		"no values at all": {Lines("Tasks", "", Series{}), []string{"<title>"}},
		"filled":           {Lines("Tasks", "", Series{Filled: true, Class: "two", Values: []float64{0, 9}}), []string{`class="fill two"`}},
		"a strip": {Strip("Passes", "all complete", []Cell{{"well", "12:00"}, {"bad", "12:02 " + evil}}),
			[]string{`class="well"`, "12:02 &#34;&gt;&lt;script&gt;"}},
		"an empty strip": {Strip("Passes", "none", nil), []string{`viewBox="0 0 8 14"`}},
		"lanes": {Lanes("Life", "of a task", []Lane{
			{Name: "task", Clock: "its clock", Marks: []Mark{{noon, "a", "created", "created"}, {noon, "b", "again " + evil, "again"}}},
			{Name: evil, Spans: []Span{{noon, noon.Add(time.Hour), "c", "running"}}},
		}), []string{"2026-02-01 12:00:00 UTC", "2026-02-01 13:00:00 UTC", `width="675.0"`, ">created<", ">again<"}},
		"one moment": {Lanes("Life", "", []Lane{{Marks: []Mark{{noon, "a", "x", ""}}}}), []string{`cx="542.5"`}},
		"no moment":  {Lanes("Life", "", []Lane{{}}), []string{"</svg>"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, want := range c.want {
				if !strings.Contains(c.svg, want) {
					t.Errorf("%q is not in %s", want, c.svg)
				}
			}
			sound(t, c.svg)
		})
	}
}

// sound reads a chart as strict XML, without an element that is not drawn.
func sound(t *testing.T, svg string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
		if e, ok := token.(xml.StartElement); ok && !strings.Contains(" svg title path rect circle text ", " "+e.Name.Local+" ") {
			t.Errorf("<%s> in %s", e.Name.Local, svg)
		}
	}
}

// TestLabelsStandApart: what would stand on another label is only told by its title.
func TestLabelsStandApart(t *testing.T) {
	var marks []Mark
	for i := range 20 {
		marks = append(marks, Mark{noon.Add(time.Duration(i)), "a", "t", "label"})
	}
	marks = append(marks, Mark{noon.Add(time.Hour), "a", "t", "label"})
	if n := strings.Count(Lanes("x", "", []Lane{{Marks: marks}}), ">label<"); n != 3 {
		t.Errorf("%d labels, want two of the crowd and the last", n)
	}
}
