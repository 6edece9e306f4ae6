package fresh

import (
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/web/webtest"
)

func TestFreshness(t *testing.T) {
	const quick, full = 30 * time.Second, 2 * time.Minute
	cases := map[string]struct {
		passes     string
		last, full time.Time
		quick      time.Duration
		want       Freshness
		ok         bool
	}{
		"never":              {want: Freshness{Never: true}},
		"never complete":     {passes: "qf", want: Freshness{Never: true}},
		"at once":            {"qf", webtest.Noon, webtest.Noon, quick, Freshness{Limit: 90 * time.Second}, true},
		"at three intervals": {"qf", webtest.Ago(90 * time.Second), webtest.Ago(90 * time.Second), quick, Freshness{Age: 90 * time.Second, Limit: 90 * time.Second}, true},
		"past three intervals": {"qf", webtest.Ago(90*time.Second + 1), webtest.Ago(90*time.Second + 1), quick,
			Freshness{Age: 90*time.Second + 1, Limit: 90 * time.Second}, false},
		"a minute is always fine": {"q", webtest.Ago(time.Minute), webtest.Noon, time.Second, Freshness{Age: time.Minute, Limit: time.Minute}, true},
		"more than a minute is not": {"q", webtest.Ago(time.Minute + 1), webtest.Noon, time.Second,
			Freshness{Age: time.Minute + 1, Limit: time.Minute}, false},
		"only full passes: the schedule of full ones counts": {"fffff", webtest.Ago(6 * time.Minute), webtest.Ago(6 * time.Minute), quick,
			Freshness{Age: 6 * time.Minute, Limit: 6 * time.Minute}, true},
		"only full passes and too old": {"fffff", webtest.Ago(6*time.Minute + 1), webtest.Ago(6*time.Minute + 1), quick,
			Freshness{Age: 6*time.Minute + 1, Limit: 6 * time.Minute}, false},
		"a quick pass long ago does not count": {"fffffq", webtest.Ago(2 * time.Minute), webtest.Ago(2 * time.Minute), quick,
			Freshness{Age: 2 * time.Minute, Limit: 6 * time.Minute}, true},
		"the fifth that ended counts": {"-ffffq", webtest.Ago(2 * time.Minute), webtest.Ago(2 * time.Minute), quick,
			Freshness{Age: 2 * time.Minute, Limit: 90 * time.Second}, false},
		"full passes at the limit": {"q", webtest.Noon, webtest.Ago(6 * time.Minute), quick, Freshness{Limit: 90 * time.Second}, true},
		"full passes missing": {"q", webtest.Noon, webtest.Ago(6*time.Minute + 1), quick,
			Freshness{Age: 6*time.Minute + 1, Limit: 6 * time.Minute, Full: true}, false},
		"a first full pass may take a while": {"qqqq", webtest.Noon, time.Time{}, quick, Freshness{Limit: 90 * time.Second}, true},
		"the ledger's clock ran backwards":   {"q", webtest.Noon.Add(time.Hour), webtest.Noon.Add(time.Hour), quick, Freshness{Age: -time.Hour, Limit: 90 * time.Second}, false},
		"a minute ahead is a clock that was corrected": {"q", webtest.Noon.Add(time.Minute), webtest.Noon.Add(time.Minute), quick,
			Freshness{Age: -time.Minute, Limit: 90 * time.Second}, true},
		"more than a minute ahead": {"q", webtest.Noon.Add(time.Minute + 1), webtest.Noon.Add(time.Minute + 1), quick,
			Freshness{Age: -time.Minute - 1, Limit: 90 * time.Second}, false},
		"the last full pass is ahead": {"q", webtest.Noon, webtest.Noon.Add(time.Minute + 1), quick,
			Freshness{Age: -time.Minute - 1, Limit: 6 * time.Minute, Full: true}, false},
		"the last full pass is a minute ahead": {"q", webtest.Noon, webtest.Noon.Add(time.Minute), quick, Freshness{Limit: 90 * time.Second}, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			o := reconcile.Overview{Now: webtest.Noon, Passes: webtest.PassesOf(c.passes), LastPass: c.last, LastFull: c.full}
			got := Of(&o, c.quick, full)
			if got != c.want || got.OK() != c.ok {
				t.Errorf("freshOf = %+v, ok %v; want %+v, ok %v", got, got.OK(), c.want, c.ok)
			}
		})
	}
}

func TestFullPassThatNeverCame(t *testing.T) {
	o := reconcile.Overview{Now: webtest.Noon, LastPass: webtest.Noon, Passes: webtest.PassesOf("qq")}
	o.Passes[1].BeganAt = webtest.Ago(6*time.Minute + 1)
	if got := Of(&o, time.Second, 2*time.Minute); !got.Full || got.OK() {
		t.Errorf("freshOf = %+v, want a full pass that is missing", got)
	}
	o.Passes[1].BeganAt = webtest.Ago(6 * time.Minute)
	if got := Of(&o, time.Second, 2*time.Minute); !got.OK() {
		t.Errorf("freshOf = %+v, want ok: it may still be on its way", got)
	}
}
