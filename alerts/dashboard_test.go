package alerts

import (
	"cmp"
	"encoding/json"
	"errors"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	grafana "github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

// TestDashboardFollowsGrafanasSchema: Grafana's own types read it and find no field that they do not know, none that is
// missing and none of another kind; the same of each panel's options, fields and queries.
func TestDashboardFollowsGrafanasSchema(t *testing.T) {
	known := cog.NewRuntime()
	known.RegisterPanelcfgVariant(timeseries.VariantConfig())
	known.RegisterPanelcfgVariant(stat.VariantConfig())
	known.RegisterPanelcfgVariant(table.VariantConfig())
	known.RegisterDataqueryVariant(prometheus.VariantConfig())
	if err := follows([]byte(Dashboard())); err != nil {
		t.Errorf("the dashboard: %v", err)
	}
	for what, change := range map[string]func(map[string]any){
		"a field that nobody knows":      func(d map[string]any) { d["colour"] = "red" },
		"a panel without a type":         func(d map[string]any) { delete(panel(d), "type") },
		"a place that is a text":         func(d map[string]any) { panel(d)["gridPos"] = "left" },
		"an option that no table has":    func(d map[string]any) { panel(d)["options"] = map[string]any{"showHeadr": true} },
		"a query with a misspelled name": func(d map[string]any) { query(d)["exprr"] = "up" },
		"a query without an expression":  func(d map[string]any) { delete(query(d), "expr") },
	} {
		var d map[string]any
		if err := json.Unmarshal([]byte(Dashboard()), &d); err != nil {
			t.Fatal(err)
		}
		change(d)
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if follows(text) == nil {
			t.Errorf("%s is not seen", what)
		}
	}
}

// follows is what Grafana's types have to say against a dashboard.
func follows(text []byte) error {
	var d grafana.Dashboard //nolint:staticcheck // the classic form, which every Grafana imports
	err := d.UnmarshalJSONStrict(text)
	var wrong cog.BuildErrors
	if errors.As(err, &wrong) && len(wrong) == 0 {
		err = nil // its list of errors is no nil error where it is empty
	}
	return cmp.Or(err, d.Validate())
}

// panel is the first table of a dashboard.
func panel(d map[string]any) map[string]any {
	for _, p := range d["panels"].([]any) {
		if p := p.(map[string]any); p["type"] == "table" {
			return p
		}
	}
	return nil
}

func query(d map[string]any) map[string]any {
	return panel(d)["targets"].([]any)[0].(map[string]any)
}
