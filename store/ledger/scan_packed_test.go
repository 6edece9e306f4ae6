package ledger

import (
	"slices"
	"strings"
	"testing"
)

// TestPackedTexts: what was scanned stays what it is, however many follow and however long they are, and many take few
// pieces. One that is the same as another of its row is that one.
func TestPackedTexts(t *testing.T) {
	var want []string
	for i := range 2000 {
		want = append(want, strings.Repeat(string(rune('a'+i%26)), i%70))
	}
	want = slices.Insert(want, 500, strings.Repeat("long", largestPiece))
	got := make([]string, len(want))
	pieces := testing.AllocsPerRun(1, func() {
		var p packed
		into := p.of(nil, nil)
		for i := range want {
			into.to = &got[i]
			if err := into.ScanBytes([]byte(want[i])); err != nil {
				t.Fatal(err)
			}
		}
	})
	if !slices.Equal(got, want) {
		t.Error("texts have changed after they were scanned")
	}
	if pieces > 200 {
		t.Errorf("%d texts took %v pieces", len(want), pieces)
	}
	for _, text := range []string{"", "same", "other"} {
		var row struct{ one, another string }
		var p packed
		row.one = "same"
		if err := p.of(&row.another, &row.one).ScanBytes([]byte(text)); err != nil || row.another != text {
			t.Errorf("%q beside another was scanned as %q: %v", text, row.another, err)
		}
	}
}
