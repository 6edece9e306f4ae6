package formula

import (
	"strings"
	"testing"
)

// FuzzExpressions: whatever an operator writes and a server answers, compiling and running
// end, in bounded memory and without a panic, and a path is what the machine makes of it.
func FuzzExpressions(f *testing.F) {
	for _, text := range []string{`body.a`, `body.items[0].id`, `filter(body.items, .id != "x")`, `body?.a?.b == 1`, `1..1000000`,
		`map(body.items, any(.t ?? [], # == "a=b"))`, `{a: body.a, b: [status]}`, `$env["body"]`, `body | len()`, `let x = body; x`,
		`body.a matches "("`, `"x" + string(body.n)`, `fromPairs(map(body.tags, split(#, "=")))`, `date(body.a)`, `body.n / 0`,
		`sum(body.items, .n)`, `((((`, `body.a ? status : -status`, `get(body, "a")`, `flatten([[1],[body]])`} {
		for _, body := range []string{`{"a":1,"n":2,"items":[{"id":"x","t":["a=b"],"n":1}],"tags":["k=v"]}`, `[1,"2",null,{}]`,
			`1e400`, `{"a":{"b":{}}}`, ``} {
			f.Add(text, []byte(body))
		}
	}
	f.Fuzz(func(t *testing.T, text string, body []byte) {
		v, err := Decode(body)
		if err != nil {
			v = nil
		}
		env := map[string]any{"status": 200, "headers": map[string]any{"link": "x"}, "cursor": "", "count": 1, "body": v}
		for _, names := range []Names{names, nil} {
			x, err := Compile(text, names)
			if err != nil {
				if strings.ContainsAny(err.Error(), "\n\r") || err.Error() == "" {
					t.Errorf("Compile(%q) = %q, want one line", text, err)
				}
				continue
			}
			got, err := x.Run(env)
			if err != nil && (got != nil || x.Is(env)) {
				t.Errorf("%q = %v and %v", text, got, err)
			}
			Text(got)
			Whole(got)
			Labels(got)
			if at := Moment(got); !at.IsZero() && (at.Year() < 1970 || at.Year() > 2200) {
				t.Errorf("Moment(%v) = %s", got, at)
			}
		}
	})
}

// FuzzAddresses: whatever stands in a placeholder, the address keeps its path: as many
// segments as the template has, none of them a way up, and the same parameters.
func FuzzAddresses(f *testing.F) {
	for _, text := range []string{"/boxes/{id}/run?path={path}&n=1", "https://logs.test/{id}", "{endpoint}/x{id}", "/{id}.{path}"} {
		for _, id := range []string{"a", "a/b", "..", ".", "", "%2e%2e", "?x#y", "\x00", "é", "a b", "{id}"} {
			f.Add(text, id, id)
		}
	}
	f.Fuzz(func(t *testing.T, text, id, path string) {
		a, err := ParseAddress(text, []string{"id", "path"})
		if err != nil {
			return
		}
		plain, err := a.Expand(map[string]string{"id": "x", "path": "y"})
		if err != nil {
			return
		}
		got, err := a.Expand(map[string]string{"id": id, "path": path})
		if err != nil {
			return
		}
		way, query, _ := strings.Cut(got, "?")
		plainWay, plainQuery, _ := strings.Cut(plain, "?")
		for part := range strings.SplitSeq(way, "/") {
			if part == "." || part == ".." {
				t.Errorf("%s of %q leads up: %s", text, id, got)
			}
		}
		if strings.Count(way, "/") != strings.Count(plainWay, "/") || strings.Count(query, "&") > strings.Count(plainQuery, "&") ||
			strings.ContainsAny(got, "#\r\n\x00 ") || got[0] != '/' {
			t.Errorf("%s of %q and %q = %q", text, id, path, got)
		}
	})
}
