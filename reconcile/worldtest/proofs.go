package worldtest

import (
	"strconv"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// asked is what worlds ask of a rule, once a line names a proof.
var asked = reconcile.ProofPolicy{FalsePositives: 0.02, Samples: 200, Mapping: "m", Owners: "o"}

// putProof is `proof needed`, or what is known of a rule: `proof orphan kind=observed samples=200 upper=1`, the
// bounds in percent. It is made for the config as it is when the line is read.
func putProof(l *entry) {
	l.w.P.Proof = asked
	if l.arg(0) == "needed" {
		return
	}
	one := reconcile.Proof{Rule: l.arg(0), Class: reconcile.ProofAll, MadeAt: l.w.S.Memory.Now, Samples: 412,
		Line: "proven on your history"}
	kind, upper, lower := string(reconcile.ProofBacktest), "1", "0"
	l.str("kind", &kind)
	one.Kind = reconcile.ProofKind(kind)
	one.Sum = l.w.P.ProofSum(one.Rule, one.Kind)
	l.str("sum", &one.Sum)
	l.str("class", &one.Class)
	l.str("upper", &upper)
	l.str("lower", &lower)
	l.num("samples", &one.Samples)
	l.num("wrong", &one.FalsePositives)
	l.ago("made", l.w.S.Memory.Now, &one.MadeAt)
	one.Upper, one.Lower = part(l, upper), part(l, lower)
	if one.Upper > asked.FalsePositives {
		one.Line = "not proven on your history: " + upper + " % of " + one.Class
	}
	l.w.S.Memory.Controls.Proofs = append(l.w.S.Memory.Controls.Proofs, one)
}

func part(l *entry, percent string) float64 {
	n, err := strconv.ParseFloat(percent, 64)
	if err != nil {
		l.w.T.Fatalf("line %q: %v", l.text, err)
	}
	return n / 100
}

func putArms(l *entry) {
	l.w.S.Memory.Controls.Arms = map[string]reconcile.Arm{l.arg(0): {Attribution: reconcile.Attribution{Author: "ana",
		Reason: "drill"}}}
}

func putGrace(l *entry) {
	var lasts time.Duration
	l.dur("lasts", &lasts)
	l.w.S.Memory.Controls.Grace = map[string]time.Time{l.arg(0): l.w.S.Memory.Now.Add(lasts)}
}
