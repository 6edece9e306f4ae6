package result

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// A Proof says by what a rule may act; "nothing" while it is held.
type Proof struct {
	Rule     string `json:"rule"`
	ProvenBy string `json:"proven_by"`
	Why      string `json:"why"`
}

// proofsOf say of each rule that acts by what it may.
func proofsOf(v *view.View) (out []Proof) {
	for _, rule := range reconcile.RuleNames {
		r := v.P.Rules[rule]
		if r.Mode != reconcile.Enforce || r.Remedy == reconcile.Report || r.Remedy == reconcile.Activate {
			continue
		}
		now := v.P.Standing(&v.S.Memory.Controls, v.Now, rule)
		out = append(out, Proof{rule, reconcile.FirstOf(string(now.Kind), "nothing"), now.Line})
	}
	return out
}

// provenBy are the words for the kinds of proofs, in the order in which they are told.
var provenBy = [...]struct {
	kind  reconcile.ProofKind
	words string
}{
	{reconcile.ProofBacktest, "proven by backtest"},
	{reconcile.ProofObserved, "proven by what was observed"},
	{reconcile.ProofArmed, "armed unproven"},
	{reconcile.ProofGrace, "not proven, in the time of grace"},
	{reconcile.ProofOff, "unproven, for the config says proof: off"},
	{"nothing", "not proven, so held"},
}

// proofsText are the rules by what they may act; why, `report` says.
func proofsText(b *bytes.Buffer, p console.Paint, r Pass) {
	for _, by := range provenBy {
		var rules []string
		for _, one := range r.Proofs {
			if one.ProvenBy == string(by.kind) {
				rules = append(rules, one.Rule)
			}
		}
		if len(rules) > 0 {
			fmt.Fprintf(b, "%s: %s\n", p.Bold(by.words), text.Line(strings.Join(rules, ", ")))
		}
	}
}
