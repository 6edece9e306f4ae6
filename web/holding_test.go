package web

import (
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

func TestHolding(t *testing.T) {
	cases := map[string]struct {
		by   []string
		want string
	}{
		"nothing":              {nil, ""},
		"observing":            {[]string{"observe"}, "because the rule only observes"},
		"off":                  {[]string{"off"}, "because the rule is off"},
		"a hold":               {[]string{"hold: sandbox:sb-1 (looking into it) by ana"}, "by ana: looking into it"},
		"a hold without words": {[]string{"hold: sandbox:sb-1"}, "by a hold"},
		"without an author":    {[]string{"hold: sandbox:sb-1 (looking into it)"}, "by a hold: looking into it"},
		"without a reason":     {[]string{"hold: sandbox:sb-1 by ana"}, "by ana"},
		"a reason with by":     {[]string{"hold: task:7 (seen by (a) user) by ana"}, "by ana: seen by (a) user"},
		"a pause":              {[]string{"pause: all (drill) by ana"}, "by a pause of ana: drill"},
		"a pause of nobody":    {[]string{"pause: rule:orphan"}, "by a pause"},
		"a person comes first": {[]string{"observe", "budget: per_pass 20", "hold: task:7 by ben"}, "by ben"},
		"a budget":             {[]string{"budget: per_pass 20"}, "by the budget: per_pass 20"},
		"a rollout":            {[]string{"rollout: 25%"}, "by the rollout: 25%"},
		"a breaker":            {[]string{"breaker: 41 due of a fleet of 50 exceed 30%"}, "by the breaker"},
		"a listing":            {[]string{"listing-untrusted daytona"}, "while the listing of daytona is not trusted"},
		"events":               {[]string{"events-untrusted"}, "while the workers' events are not trusted"},
		"others may share it": {[]string{"not-exclusive: it names a task that nobody here ever knew and was active 5s ago"},
			"because others may share the account"},
		"anything else":         {[]string{`status "odd" is not mapped`}, `because of this: status "odd" is not mapped`},
		"what turns the script": {[]string{"hold: task:7 (\u202ex) by a\x1bna"}, "by a na: x"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := holding(reconcile.HeldByOf(c.by...)); got != c.want {
				t.Errorf("holding(%q) = %q, want %q", c.by, got, c.want)
			}
		})
	}
}

func TestHeldSentence(t *testing.T) {
	cases := map[string]struct {
		by   []string // of one due finding each; "" is one that nothing holds
		want string
	}{
		"none":         {nil, ""},
		"nothing held": {[]string{""}, ""},
		"one":          {[]string{"observe"}, "held because the rule only observes."},
		"alike":        {[]string{"hold: task:1 (x) by ana", "hold: task:2 (x) by ana"}, "held by ana: x."},
		"of two kinds": {[]string{"observe", "off", "observe"}, "held: 2 because the rule only observes, 1 because the rule is off."},
		"of four kinds": {[]string{"observe", "off", "budget: a", "rollout: 5%"},
			"held: 1 because the rule is off, 1 because the rule only observes, 1 by the budget: a, and by 1 other thing."},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var of []*reconcile.FindingSeen
			for _, by := range c.by {
				f := &reconcile.FindingSeen{Finding: reconcile.Finding{Due: true}}
				if by != "" {
					f.HeldBy = reconcile.HeldByOf(by)
				}
				of = append(of, f)
			}
			if got := heldSentence(of); got != c.want {
				t.Errorf("heldSentence = %q, want %q", got, c.want)
			}
		})
	}
}
