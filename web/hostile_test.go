package web

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode"

	"github.com/sandkeeper/sandkeeper/web/webtest"
)

// TestHostileTexts reads the page as a browser does: what others wrote must be text, on
// any page and in any place.
func TestHostileTexts(t *testing.T) {
	r := Reading{Overview: webtest.Hostile()}
	var text strings.Builder
	if err := document(viewOf(&r, process())).Render(t.Context(), &text); err != nil {
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
	harmlessElements(t, text.String(), 100)
}

// harmlessElements walks all elements of a page.
func harmlessElements(t *testing.T, page string, least int) {
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
			webtest.HarmlessElement(t, e)
		}
	}
	if elements < least {
		t.Errorf("only %d elements were read", elements)
	}
}
