package wire_test

import (
	"net/http"
	"testing"

	"github.com/sandkeeper/sandkeeper/providers/wire"
)

func TestNextLink(t *testing.T) {
	const none, odd = "nothing of pages", "not understood"
	for header, want := range map[string]string{
		`</a?after=x>; rel=next`:                                "/a?after=x",
		`<?after=y>; rel="prev", <?after=x>; rel="next"`:        "?after=x",
		`<?after=y>;rel=prev,<?after=x>;rel=next`:               "?after=x",
		`<?after=x>; title="a"; REL="Last Next"`:                "?after=x",
		`<?after=x>; title="a, b"; REL="Last Next"`:             "?after=x",
		`<?after=x>; title="a \"<b>; rel=prev"; rel=next`:       "?after=x",
		"<?after=x> ; rel\t= \"next\" ;":                        "?after=x",
		`<?a=1,2;b>; rel="next"; title*=UTF-8'en'%e2%82%ac%20`:  "?a=1,2;b",
		`, <?after=x>; rel=next,, `:                             "?after=x",
		`<?after=y>; rel=self; rel=next`:                        "",
		`<?after=y>; rel="prev"`:                                "",
		`<?after=y>; title="x, <?after=x>; rel=next"; rel=prev`: "",
		`<?after=x>; rel="next2"`:                               none,
		`</s.css>; rel=preload; as=style`:                       none,
		`<?after=x>`:                                            none,
		``:                                                      none,
		`nonsense; rel=next`:                                    odd,
		`<?after=x; rel=next`:                                   odd,
		`<?after=x>; rel="next`:                                 odd,
		`<?after=x>; rel=prev <?after=y>; rel=next`:             odd,
		`<?after=x>; rel=next, ?after=y; rel=next`:              odd,
	} {
		got, told, err := wire.NextLink(http.Header{"Link": {`<b>; rel="up"`, header}})
		switch {
		case err != nil:
			got += odd
		case !told:
			got += none
		}
		if got != want {
			t.Errorf("NextLink(%s) = %q, %v; want %q", header, got, err, want)
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
