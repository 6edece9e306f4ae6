package web

import (
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// passesOf are passes that ended, newest first; q is quick, f full, - one that never ended.
func passesOf(kinds string) []reconcile.PassSeen {
	var out []reconcile.PassSeen
	for i, k := range kinds {
		p := reconcile.PassSeen{Kind: reconcile.Quick, BeganAt: back(time.Duration(i) * time.Second), EndedAt: back(time.Duration(i) * time.Second)}
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
		"at once":            {"qf", noon, noon, quick, freshness{Limit: 90 * time.Second}, true},
		"at three intervals": {"qf", back(90 * time.Second), back(90 * time.Second), quick, freshness{Age: 90 * time.Second, Limit: 90 * time.Second}, true},
		"past three intervals": {"qf", back(90*time.Second + 1), back(90*time.Second + 1), quick,
			freshness{Age: 90*time.Second + 1, Limit: 90 * time.Second}, false},
		"a minute is always fine": {"q", back(time.Minute), noon, time.Second, freshness{Age: time.Minute, Limit: time.Minute}, true},
		"more than a minute is not": {"q", back(time.Minute + 1), noon, time.Second,
			freshness{Age: time.Minute + 1, Limit: time.Minute}, false},
		"only full passes: the schedule of full ones counts": {"fffff", back(6 * time.Minute), back(6 * time.Minute), quick,
			freshness{Age: 6 * time.Minute, Limit: 6 * time.Minute}, true},
		"only full passes and too old": {"fffff", back(6*time.Minute + 1), back(6*time.Minute + 1), quick,
			freshness{Age: 6*time.Minute + 1, Limit: 6 * time.Minute}, false},
		"a quick pass long ago does not count": {"fffffq", back(2 * time.Minute), back(2 * time.Minute), quick,
			freshness{Age: 2 * time.Minute, Limit: 6 * time.Minute}, true},
		"the fifth that ended counts": {"-ffffq", back(2 * time.Minute), back(2 * time.Minute), quick,
			freshness{Age: 2 * time.Minute, Limit: 90 * time.Second}, false},
		"full passes at the limit": {"q", noon, back(6 * time.Minute), quick, freshness{Limit: 90 * time.Second}, true},
		"full passes missing": {"q", noon, back(6*time.Minute + 1), quick,
			freshness{Age: 6*time.Minute + 1, Limit: 6 * time.Minute, Full: true}, false},
		"a first full pass may take a while": {"qqqq", noon, time.Time{}, quick, freshness{Limit: 90 * time.Second}, true},
		"the ledger's clock ran backwards":   {"q", noon.Add(time.Hour), noon.Add(time.Hour), quick, freshness{Age: -time.Hour, Limit: 90 * time.Second}, false},
		"a minute ahead is a clock that was corrected": {"q", noon.Add(time.Minute), noon.Add(time.Minute), quick,
			freshness{Age: -time.Minute, Limit: 90 * time.Second}, true},
		"more than a minute ahead": {"q", noon.Add(time.Minute + 1), noon.Add(time.Minute + 1), quick,
			freshness{Age: -time.Minute - 1, Limit: 90 * time.Second}, false},
		"the last full pass is ahead": {"q", noon, noon.Add(time.Minute + 1), quick,
			freshness{Age: -time.Minute - 1, Limit: 6 * time.Minute, Full: true}, false},
		"the last full pass is a minute ahead": {"q", noon, noon.Add(time.Minute), quick, freshness{Limit: 90 * time.Second}, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			o := reconcile.Overview{Now: noon, Passes: passesOf(c.passes), LastPass: c.last, LastFull: c.full}
			got := freshOf(&o, c.quick, full)
			if got != c.want || got.ok() != c.ok {
				t.Errorf("freshOf = %+v, ok %v; want %+v, ok %v", got, got.ok(), c.want, c.ok)
			}
		})
	}
}

func TestFullPassThatNeverCame(t *testing.T) {
	o := reconcile.Overview{Now: noon, LastPass: noon, Passes: passesOf("qq")}
	o.Passes[1].BeganAt = back(6*time.Minute + 1)
	if got := freshOf(&o, time.Second, 2*time.Minute); !got.Full || got.ok() {
		t.Errorf("freshOf = %+v, want a full pass that is missing", got)
	}
	o.Passes[1].BeganAt = back(6 * time.Minute)
	if got := freshOf(&o, time.Second, 2*time.Minute); !got.ok() {
		t.Errorf("freshOf = %+v, want ok: it may still be on its way", got)
	}
}
