package formula

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/expr-lang/expr/builtin"
)

var names = Names{"status": 0, "headers": nil, "body": nil, "cursor": "", "count": 0}

// env is an answer.
func env(t testing.TB, body string) map[string]any {
	t.Helper()
	v, err := Decode([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return map[string]any{"status": 404, "headers": map[string]any{"link": "x"}, "cursor": "", "count": 3, "body": v}
}

func TestExpressions(t *testing.T) {
	const body = `{"a":null,"n":7,"big":123456789012345678901,"half":0.5,"e":{"code":"nf"},
		"items":[{"id":"x","tags":["a=b"],"up":true},{"id":"y"}]}`
	for text, want := range map[string]any{
		`body.n`:                                7,
		`body.a`:                                nil,
		`body.e.code`:                           "nf",
		`body.e["code"]`:                        "nf",
		`body?.e?.code`:                         "nf",
		`body.x.y.z`:                            nil, // a path is nothing where something is missing
		`body.n.of.a.number`:                    nil,
		`body.big`:                              "123456789012345678901",
		`body.half * 2`:                         1.0,
		`body.n + 1`:                            8,
		`headers.link`:                          "x",
		`$env["status"]`:                        404,
		`status in [404, 410]`:                  true,
		`status == 404 and body.e.code == "nf"`: true,
		`count + 1 < body.n`:                    true,
		`map(body.items, .id)`:                  []any{"x", "y"},
		`filter(body.items, .id == "x" and status == 404)[0].id`: "x",
		`any(body.items, any(.tags ?? [], # == "a=b"))`:          true,
		`cursor == "" ? {limit: 5} : {cursor: cursor}`:           map[string]any{"limit": 5},
		`let e = body.e; e.code`:                                 "nf",
	} {
		x, err := Compile(text, names)
		if err != nil {
			t.Errorf("Compile(%s) = %v", text, err)
			continue
		}
		if got, err := x.Run(env(t, body)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s = %#v, %v; want %#v", text, got, err, want)
		}
	}
}

// What does not compile points at the place, and does not quote the expression.
func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		`status ==`:                            "column 9: unexpected token EOF",
		`statu == 1`:                           "column 1: unknown name statu",
		`status + "s3cret"`:                    "column 8: invalid operation: + (mismatched types int and string)",
		`repeat("x", 1000000)`:                 "column 1: there is no function repeat",
		`reduce(body, # + #acc)`:               "column 1: there is no function reduce",
		`filter(body.items, .id == body.n)`:    "column 27: body may not be used within a closure; use # or .field there",
		`map(body, map(body, #))`:              "column 15: body may not be used within a closure; use # or .field there",
		`map(body, {let b = #; b})`:            "column 23: b may not be used within a closure; use # or .field there",
		`map(body, $env)`:                      "column 11: $env may not be used within a closure; use # or .field there",
		`nope(body)`:                           "column 1: unknown name nope",
		``:                                     "column 1: unexpected token EOF",
		strings.Repeat("(", 2001):              "is longer than 2000 bytes",
		"[" + strings.Repeat("1,", 600) + "1]": "exceeds maximum allowed nodes",
	} {
		x, err := Compile(text, names)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("Compile(%.60s) = %v, %v; want %s", text, x, err, want)
		}
	}
}

// A run is bounded, whatever it is run on, and never panics.
func TestRunsAreBounded(t *testing.T) {
	for text, want := range map[string]string{
		`1..100000000`:                     "memory budget exceeded",
		`map(1..2000, map(1..2000, #))`:    "memory budget exceeded",
		`body.items[99]`:                   "out of range",
		`body.n.x + 1`:                     "", // of another type
		`date(body.s).Year()`:              "",
		`int(body.s)`:                      "",
		`body.s matches body.bad`:          "",
		`body.items[-9223372036854775807]`: "",
		`5 % body.zero`:                    "",
	} {
		x, err := Compile(text, names)
		if err != nil {
			t.Fatalf("Compile(%s) = %v", text, err)
		}
		got, err := x.Run(env(t, `{"items":[1],"n":7,"s":"no","bad":"[","zero":0}`))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s = %v, %v; want an error with %q", text, got, err, want)
		}
		if x.Is(env(t, `{}`)) {
			t.Errorf("%s is true", text)
		}
	}
}

// Within a closure only the element may be named, so that the work grows with the answer and
// not with its square: a hundred thousand elements are no matter.
func TestClosuresAreLinear(t *testing.T) {
	body := "[" + strings.TrimSuffix(strings.Repeat(`{"t":["a","b"]},`, 100_000), ",") + "]"
	x, err := Compile(`len(filter(body, any(.t, # == "b")))`, names)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := x.Run(env(t, body)); err != nil || got != 100_000 {
		t.Errorf("Run = %v, %v", got, err)
	}
}

// A path is there or not. Any other expression may come to something where nothing was said.
func TestPresence(t *testing.T) {
	for text, want := range map[string]struct{ present, speaks bool }{
		"body.after":                     {true, true},
		"body?.after":                    {true, true},
		"body.aftr":                      {false, false},
		"body.none.after":                {false, false},
		"body.list.after":                {false, false},
		`body?.after ?? ""`:              {false, true},
		`body?.aftr ?? ""`:               {false, false},
		`body?.aftr ?? body.after`:       {false, true},
		`body.page?.after ?? ""`:         {false, false},
		`$env["body"]["after"] ?? ""`:    {false, true},
		`body.more ? body.aftr : ""`:     {false, true},
		`body?.rest ? body.aftr : ""`:    {false, false},
		`(body ?? {}).after ?? ""`:       {false, false},
		`status == 200 ? "" : "x"`:       {false, false},
		`headers["x-next"] ?? ""`:        {false, false},
		`headers.link ?? ""`:             {false, true},
		`filter(body.list, .up)[0] ?? 1`: {false, true},
	} {
		x, err := Compile(text, names)
		if err != nil {
			t.Fatal(err)
		}
		e := env(t, `{"after":null,"list":[],"more":false}`)
		if x.Present(e) != want.present || x.Speaks(e) != want.speaks {
			t.Errorf("%s: Present = %t, Speaks = %t; want %+v", text, x.Present(e), x.Speaks(e), want)
		}
	}
	var none *Expression
	if v, err := none.Run(nil); v != nil || err != nil || none.Present(nil) || none.Speaks(nil) {
		t.Errorf("Run of none = %v, %v", v, err)
	}
}

func TestFunctionsExist(t *testing.T) {
	for _, name := range functions {
		if _, known := builtin.Index[name]; !known {
			t.Errorf("%s is no function", name)
		}
	}
}

func TestDecode(t *testing.T) {
	for text, want := range map[string]any{
		`{"a":1,"a":2}`: map[string]any{"a": 2}, `"\u0000\ud800"`: "\x00\uFFFD", `1e400`: "1e400", `-0`: 0, `1.0`: 1.0,
		`9223372036854775807`: 9223372036854775807, `9223372036854775808`: "9223372036854775808", `[]`: []any{},
		`null`: nil, `true`: true, ` {"\u0061":[1,"x"]} `: map[string]any{"a": []any{1, "x"}},
	} {
		if got, err := Decode([]byte(text)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("Decode(%s) = %#v, %v; want %#v", text, got, err, want)
		}
	}
	for name, text := range map[string]string{
		"nothing": ``, "half": `{"a":`, "more": `{} {}`, "a page": `<html>`, "a lone comma": `[1,]`, "no comma": `[1 2]`,
		"a key without a value": `{"a"}`, "a bare word": `nul`, "no number": `01`,
		"many in each other":    strings.Repeat("[", 100) + strings.Repeat("]", 100),
		"many beside":           "[" + strings.Repeat("0,", mostValues) + "0]",
		"objects in each other": strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100),
	} {
		if got, err := Decode([]byte(text)); err == nil {
			t.Errorf("Decode of %s = %.40v, want an error", name, got)
		}
	}
}

func TestValues(t *testing.T) {
	for _, test := range []struct {
		v    any
		want string
		ok   bool
	}{{"x", "x", true}, {7, "7", true}, {3.0, "3", true}, {true, "true", true}, {1.5, "", false}, {1e300, "", false},
		{nil, "", false}, {[]any{"x"}, "", false}, {map[string]any{}, "", false}} {
		if got, ok := Text(test.v); got != test.want || ok != test.ok {
			t.Errorf("Text(%#v) = %q, %t", test.v, got, ok)
		}
	}
	for text, want := range map[string]map[string]string{
		`{"a":"b","n":1,"t":true,"no":null,"deep":{"x":1},"list":[1]}`: {"a": "b", "n": "1", "t": "true"},
		`["a=b=c","d:e","f",7,"url=http://x"]`:                         {"a": "b=c", "d": "e", "f": "", "url": "http://x"},
		`"a=b"`:                                                        nil, `null`: nil, `7`: nil, `{}`: {}, `[]`: {},
	} {
		v, _ := Decode([]byte(text))
		if got := Labels(v); !reflect.DeepEqual(got, want) {
			t.Errorf("Labels(%s) = %v, want %v", text, got, want)
		}
	}
}

func TestMoments(t *testing.T) {
	at := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	for _, v := range []any{at, "2026-11-01T12:00:00Z", "2026-11-01T13:00:00+01:00", int(at.Unix()), float64(at.Unix()),
		int(at.UnixMilli()), int(at.UnixMicro()), int(at.UnixNano()), fmt.Sprint(at.Unix()), fmt.Sprint(at.UnixMilli())} {
		if got := Moment(v); !got.Equal(at) || got.Location() != time.UTC {
			t.Errorf("Moment(%v) = %s, want %s", v, got, at)
		}
	}
	for _, v := range []any{nil, "", "yesterday", "0001-01-01T00:00:00Z", 0, -5, "NaN", "1e400", 1e30, "+Inf", true, "9999-01-01T00:00:00Z",
		[]any{}} {
		if got := Moment(v); !got.IsZero() {
			t.Errorf("Moment(%v) = %s, want none", v, got)
		}
	}
}

func TestAddresses(t *testing.T) {
	all := []string{"id", "cursor", "path"}
	values := map[string]string{"id": "a/b?c#d%2e é", "path": "/etc/../x y", "cursor": ""}
	for text, want := range map[string]string{
		"/boxes/{id}":                       "/boxes/a%2Fb%3Fc%23d%252e%20%C3%A9",
		"/boxes?after={cursor}":             "/boxes",
		"/boxes?limit=5&after={cursor}":     "/boxes?limit=5",
		"/boxes?after={cursor}&limit=5":     "/boxes?limit=5",
		"/boxes?q=a:{cursor}":               "/boxes?q=a:",
		"/ls?path={path}":                   "/ls?path=%2Fetc%2F..%2Fx+y",
		"https://logs.example/{id}/x":       "/a%2Fb%3Fc%23d%252e%20%C3%A9/x",
		"{endpoint}/run":                    "/run",
		"/boxes/x{id}y?empty=&b=1":          "/boxes/xa%2Fb%3Fc%23d%252e%20%C3%A9y?empty=&b=1",
		"/boxes?id={id}&id=2&cursor={path}": "/boxes?id=a%2Fb%3Fc%23d%252e+%C3%A9&id=2&cursor=%2Fetc%2F..%2Fx+y",
	} {
		a, err := ParseAddress(text, all)
		if err != nil {
			t.Errorf("ParseAddress(%s) = %v", text, err)
			continue
		}
		if got, err := a.Expand(values); err != nil || got != want {
			t.Errorf("%s = %s, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "boxes", "//evil.example/", "http:/x", "ftp://x/", "https://{id}/x", "https://u@x/", "https://x",
		"/a b", "/a#b", `/a\b`, "/{nope}", "/{id", "/id}", "/{}", "/%zz", "{endpoint}", "{endpoint}evil/", "https://x:{id}/"} {
		if a, err := ParseAddress(text, all); err == nil {
			t.Errorf("ParseAddress(%s) = %+v, want an error", text, a)
		}
	}
	for _, id := range []string{"", ".", ".."} {
		a, _ := ParseAddress("/boxes/{id}/run", all)
		if got, err := a.Expand(map[string]string{"id": id}); err == nil {
			t.Errorf("the address of %q = %s, want an error", id, got)
		}
	}
}

func TestHeaders(t *testing.T) {
	if CheckHeader("Bearer {tokn}", []string{"token"}) == nil || CheckHeader("Bearer {token}", []string{"token"}) != nil {
		t.Error("a placeholder that is not there is taken, or one that is is not")
	}
}
