package web

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// TestHostileTexts reads the page as a browser does: what others wrote must be text, on
// any page and in any place.
func TestHostileTexts(t *testing.T) {
	r := reading{Overview: hostileWorld()}
	var text strings.Builder
	if err := document(viewOf(&r, options())).Render(t.Context(), &text); err != nil {
		t.Fatal(err)
	}
	if text.Len() > 100_000 {
		t.Errorf("the page has %d bytes: a text was not cut", text.Len())
	}
	for _, r := range text.String() {
		if unicode.In(r, unicode.Cf) || unicode.IsControl(r) && r != '\n' && r != '\t' {
			t.Fatalf("%q is on the page", r)
		}
	}
	if !strings.Contains(text.String(), "&lt;script&gt;alert(1)") {
		t.Error("the hostile text is not shown at all")
	}
	harmlessElements(t, text.String())
}

var ours = regexp.MustCompile(`^(static/[a-z]+\.(css|js|svg)\?v=[0-9a-f]{12}|\./|#[a-z]+|metrics|readyz)$`)

// harmlessElements walks all elements of a page.
func harmlessElements(t *testing.T, page string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	elements := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			elements++
			harmlessElement(t, e)
		}
	}
	if elements < 100 {
		t.Errorf("only %d elements were read", elements)
	}
}

func harmlessElement(t *testing.T, e xml.StartElement) {
	t.Helper()
	switch e.Name.Local {
	case "img", "iframe", "object", "style", "form", "base":
		t.Errorf("<%s> is on the page", e.Name.Local)
	}
	src := e.Name.Local != "script"
	for _, a := range e.Attr {
		name := a.Name.Local
		if strings.HasPrefix(name, "on") || name == "style" {
			t.Errorf("<%s %s=%q> is on the page", e.Name.Local, name, a.Value)
		}
		if name == "href" || name == "src" || name == "data-icon" {
			src = true
			if !ours.MatchString(a.Value) {
				t.Errorf("<%s %s=%q> is not ours", e.Name.Local, name, a.Value)
			}
		}
	}
	if !src {
		t.Error("a script is on the page that comes from no file")
	}
}
