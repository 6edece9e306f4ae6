package platforms

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPresetsTellOfTheirPast: the rows of each platform are read as a history by its preset, and every rule has a line.
func TestPresetsTellOfTheirPast(t *testing.T) {
	for name, p := range map[string]struct {
		provider string
		vendor   vendor
		tell     stories
	}{
		"coder":      {coderCluster("{task_label: com.coder.workspace.id}"), cluster, coderHealthy()},
		"garm":       {garmCluster, cluster, garmHealthy()},
		"kortix":     {kortixDaytona, daytona, kortixHealthy()},
		"openhands":  {openhandsEngine, engine, openhandsHealthy()},
		"prefect":    {prefectCluster, jobs, prefectHealthy()},
		"triggerdev": {triggerCluster, cluster, triggerHealthy()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := naive(t, name, "tasks: {preset: "+name+"}\n", p.provider, p.vendor).world(t)
			for _, story := range slices.Sorted(maps.Keys(p.tell)) {
				p.tell[story](w)
			}
			w.configure(w.config)
			w.tellsOfItsPast()
		})
	}
}

// tellsOfItsPast demands a line on each rule.
func (w *world) tellsOfItsPast() {
	w.Helper()
	code, out, errs := w.run("backtest", "-o", "json", "--since", "365d")
	if code != 0 || errs != "" {
		w.Fatalf("backtest: exit code %d: %s", code, errs)
	}
	var got struct {
		Rules []struct{ Rule, Class, Reason string } `json:"rules"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		w.Fatal(err)
	}
	told := map[string]bool{}
	for _, r := range got.Rules {
		told[r.Rule] = told[r.Rule] || r.Class == "all" && r.Reason != ""
	}
	pages, err := filepath.Glob("../../docs/rules/*.md")
	if err != nil || len(pages) == 0 {
		w.Fatalf("no pages of rules: %v", err)
	}
	for _, page := range pages {
		name := strings.TrimSuffix(filepath.Base(page), ".md")
		if name != "README" && !told[name] {
			w.Errorf("%s has no line with a reason", name)
		}
	}
}
