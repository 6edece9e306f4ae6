package ledger

import (
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

func TestSandboxesInParts(t *testing.T) {
	g := browsed(t)
	cases := map[string]struct {
		part reconcile.Chosen
		want string
	}{
		"what exists":        {reconcile.Chosen{Most: 9}, "53ca4d43"},
		"what is gone":       {reconcile.Chosen{State: reconcile.ChosenGone, Most: 9}, "99999999"},
		"a part of its name": {reconcile.Chosen{Text: "omoios-e35", Most: 9}, "53ca4d43"},
		"by its task":        {reconcile.Chosen{Text: "e3598f27-a234", Most: 9}, "53ca4d43"},
		"another state":      {reconcile.Chosen{State: string(reconcile.SandboxStopped), Most: 9}, ""},
		"elsewhere":          {reconcile.Chosen{Provider: "e2b", Most: 9}, ""},
		"after the last one": {reconcile.Chosen{After: reconcile.Cursor{Key: reconcile.Ref{Provider: "daytona", ID: "53ca4d43"}.String()}, Most: 9}, ""},
	}
	for name, c := range cases {
		found, _, err := g.Sandboxes(t.Context(), c.part)
		got := ""
		for _, s := range found {
			got += s.ID
		}
		if err != nil || got != c.want {
			t.Errorf("%s: %q, want %q; %v", name, got, c.want, err)
		}
	}
}

func TestTimelineInParts(t *testing.T) {
	g := browsed(t)
	newest, err := g.Timeline(t.Context(), TimelinePart{Most: 3})
	if err != nil || len(newest) != 3 || newest[0].What != "line 9" || newest[2].What != "line 7" {
		t.Fatalf("the newest lines are %v, %v", newest, err)
	}
	after, err := g.Timeline(t.Context(), TimelinePart{After: newest[1].Number, Most: 9})
	if err != nil || len(after) != 1 || after[0].What != "line 9" {
		t.Errorf("after the line before the last: %v, %v", after, err)
	}
	chosen, err := g.Timeline(t.Context(), TimelinePart{Kind: "state", Text: "line", Most: 9})
	if err != nil || len(chosen) != 3 {
		t.Errorf("of one kind: %v, %v", chosen, err)
	}
}
