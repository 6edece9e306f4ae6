package web

import (
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/web/webtest"
)

// passesOf are passes that ended, newest first; q is quick, f full, - one that never ended.
func passesOf(kinds string) []reconcile.PassSeen {
	var out []reconcile.PassSeen
	for i, k := range kinds {
		p := reconcile.PassSeen{Kind: reconcile.Quick, BeganAt: webtest.Ago(time.Duration(i) * time.Second), EndedAt: webtest.Ago(time.Duration(i) * time.Second)}
		switch k {
		case 'f':
			p.Kind = reconcile.Full
		case '-':
			p.EndedAt = time.Time{}
		}
		out = append(out, p)
	}
	return out
}

func TestFreshness(t *testing.T) {
	const quick, full = 30 * time.Second, 2 * time.Minute
	cases := map[string]struct {
		passes     string
		last, full time.Time
		quick      time.Duration
		want       freshness
		ok         bool
	}{
		"never":              {want: freshness{Never: true}},
		"never complete":     {passes: "qf", want: freshness{Never: true}},
		"at once":            {"qf", webtest.Noon, webtest.Noon, quick, freshness{Limit: 90 * time.Second}, true},
		"at three intervals": {"qf", webtest.Ago(90 * time.Second), webtest.Ago(90 * time.Second), quick, freshness{Age: 90 * time.Second, Limit: 90 * time.Second}, true},
		"past three intervals": {"qf", webtest.Ago(90*time.Second + 1), webtest.Ago(90*time.Second + 1), quick,
			freshness{Age: 90*time.Second + 1, Limit: 90 * time.Second}, false},
		"a minute is always fine": {"q", webtest.Ago(time.Minute), webtest.Noon, time.Second, freshness{Age: time.Minute, Limit: time.Minute}, true},
		"more than a minute is not": {"q", webtest.Ago(time.Minute + 1), webtest.Noon, time.Second,
			freshness{Age: time.Minute + 1, Limit: time.Minute}, false},
		"only full passes: the schedule of full ones counts": {"fffff", webtest.Ago(6 * time.Minute), webtest.Ago(6 * time.Minute), quick,
			freshness{Age: 6 * time.Minute, Limit: 6 * time.Minute}, true},
		"only full passes and too old": {"fffff", webtest.Ago(6*time.Minute + 1), webtest.Ago(6*time.Minute + 1), quick,
			freshness{Age: 6*time.Minute + 1, Limit: 6 * time.Minute}, false},
		"a quick pass long ago does not count": {"fffffq", webtest.Ago(2 * time.Minute), webtest.Ago(2 * time.Minute), quick,
			freshness{Age: 2 * time.Minute, Limit: 6 * time.Minute}, true},
		"the fifth that ended counts": {"-ffffq", webtest.Ago(2 * time.Minute), webtest.Ago(2 * time.Minute), quick,
			freshness{Age: 2 * time.Minute, Limit: 90 * time.Second}, false},
		"full passes at the limit": {"q", webtest.Noon, webtest.Ago(6 * time.Minute), quick, freshness{Limit: 90 * time.Second}, true},
		"full passes missing": {"q", webtest.Noon, webtest.Ago(6*time.Minute + 1), quick,
			freshness{Age: 6*time.Minute + 1, Limit: 6 * time.Minute, Full: true}, false},
		"a first full pass may take a while": {"qqqq", webtest.Noon, time.Time{}, quick, freshness{Limit: 90 * time.Second}, true},
		"the ledger's clock ran backwards":   {"q", webtest.Noon.Add(time.Hour), webtest.Noon.Add(time.Hour), quick, freshness{Age: -time.Hour, Limit: 90 * time.Second}, false},
		"a minute ahead is a clock that was corrected": {"q", webtest.Noon.Add(time.Minute), webtest.Noon.Add(time.Minute), quick,
			freshness{Age: -time.Minute, Limit: 90 * time.Second}, true},
		"more than a minute ahead": {"q", webtest.Noon.Add(time.Minute + 1), webtest.Noon.Add(time.Minute + 1), quick,
			freshness{Age: -time.Minute - 1, Limit: 90 * time.Second}, false},
		"the last full pass is ahead": {"q", webtest.Noon, webtest.Noon.Add(time.Minute + 1), quick,
			freshness{Age: -time.Minute - 1, Limit: 6 * time.Minute, Full: true}, false},
		"the last full pass is a minute ahead": {"q", webtest.Noon, webtest.Noon.Add(time.Minute), quick, freshness{Limit: 90 * time.Second}, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			o := reconcile.Overview{Now: webtest.Noon, Passes: passesOf(c.passes), LastPass: c.last, LastFull: c.full}
			got := freshOf(&o, c.quick, full)
			if got != c.want || got.ok() != c.ok {
				t.Errorf("freshOf = %+v, ok %v; want %+v, ok %v", got, got.ok(), c.want, c.ok)
			}
		})
	}
}

func TestFullPassThatNeverCame(t *testing.T) {
	o := reconcile.Overview{Now: webtest.Noon, LastPass: webtest.Noon, Passes: passesOf("qq")}
	o.Passes[1].BeganAt = webtest.Ago(6*time.Minute + 1)
	if got := freshOf(&o, time.Second, 2*time.Minute); !got.Full || got.ok() {
		t.Errorf("freshOf = %+v, want a full pass that is missing", got)
	}
	o.Passes[1].BeganAt = webtest.Ago(6 * time.Minute)
	if got := freshOf(&o, time.Second, 2*time.Minute); !got.ok() {
		t.Errorf("freshOf = %+v, want ok: it may still be on its way", got)
	}
}
