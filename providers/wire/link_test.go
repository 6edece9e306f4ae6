package wire_test

import (
	"net/http"
	"testing"

	"github.com/sandkeeper/sandkeeper/providers/wire"
)

func TestNextLink(t *testing.T) {
	for header, want := range map[string]string{
		`</a?after=x>; rel=next`:                         "/a?after=x",
		`<?after=y>; rel="prev", <?after=x>; rel="next"`: "?after=x",
		`<?after=x>; title="a, b"; REL="Last Next"`:      "",
		`<?after=x>; title="a"; REL="Last Next"`:         "?after=x",
		`<?after=x>; rel="next2"`:                        "",
		`<?after=x>`:                                     "",
		`nonsense; rel=next`:                             "",
		``:                                               "",
	} {
		if got := wire.NextLink(http.Header{"Link": {`<b>; rel="first"`, header}}); got != want {
			t.Errorf("NextLink(%s) = %q, want %q", header, got, want)
		}
	}
}

// A link leads to the host that gave it, or nowhere.
func TestFollow(t *testing.T) {
	for link, want := range map[string]string{
		"?after=x":                  "https://yard.test/v1/boxes?after=x",
		"/v2#part":                  "https://yard.test/v2",
		"https://yard.test/v2":      "https://yard.test/v2",
		"http://yard.test/v2":       "",
		"//evil.test/v2":            "",
		"https://yard.test:444/v2":  "",
		"https://u:p@yard.test/v2":  "",
		"https://yard.test.evil/v2": "",
		"https://[half":             "",
	} {
		got, err := wire.Follow("https://yard.test/v1/boxes?limit=5", link)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("Follow(%s) = %q, %v; want %q", link, got, err, want)
		}
	}
}
