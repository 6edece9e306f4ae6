package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
)

// TestPreviewGroupsWhatIsLeft: what is left is told by the reason, and by name up to a number.
func TestPreviewGroupsWhatIsLeft(t *testing.T) {
	p := &run.Preview{}
	for i := range 5 {
		why := "its task is running"
		if i == 4 {
			why = "held by ana"
		}
		p.Left = append(p.Left, run.Previewed{Ref: reconcile.Ref{Provider: "daytona", ID: fmt.Sprint("sb-", i)}, Raw: "started", Why: why})
	}
	var b bytes.Buffer
	previewText(&b, p, 2)
	want := `  leave daytona/sb-4 (started): held by ana
  leave 4 sandboxes: its task is running
    daytona/sb-0 (started)
    daytona/sb-1 (started)
    and 2 more
`
	if b.String() != want || strings.Contains(b.String(), "sb-2") {
		t.Errorf("the preview is\n%s\nwant\n%s", b.String(), want)
	}
}
