package protocol

import (
	"math"
	"strconv"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// An ArmRequest is an operator's word on a rule that is not proven: it may act all the same, or not any more.
type ArmRequest struct {
	reconcile.Attribution
	Rule  string
	Armed bool
	At    time.Time
	Seal  string
}

// String is what was asked for.
func (r *ArmRequest) String() string {
	if r.Armed {
		return "armed unproven"
	}
	return "not armed any more"
}

// ArmOf is the request about a rule that is not proven.
func ArmOf(r *ArmRequest) []string {
	return []string{"arm", r.Rule, strconv.FormatBool(r.Armed), r.Author, r.Reason, instant(r.At)}
}

// AddArm takes an operator's word on a rule into account; they come in their order. What arms needs the key, and to
// be newer than what took it back: an old word that is written once more arms nothing.
func (s Seals) AddArm(c *reconcile.Controls, r ArmRequest) {
	if !r.Armed {
		delete(c.Arms, r.Rule)
		if c.Disarmed == nil {
			c.Disarmed = map[string]time.Time{}
		}
		c.Disarmed[r.Rule] = reconcile.Latest(c.Disarmed[r.Rule], r.At)
		return
	}
	stale := r.At.Before(c.Disarmed[r.Rule])
	if s.On() && (stale || !s.Holds(r.Seal, ArmOf(&r))) {
		unsigned(c, reconcile.SubjectOf(reconcile.SubjectRule, r.Rule), "arming it unproven",
			Lift{Attribution: r.Attribution, At: r.At})
		return
	}
	c.Arms[r.Rule] = reconcile.Arm{Attribution: r.Attribution, At: r.At}
}

// ProofOf is all of a proof that lets its rule act.
func ProofOf(p *reconcile.Proof) []string {
	number := func(f float64) string { return strconv.FormatUint(math.Float64bits(f), 36) }
	return []string{"proof", p.Rule, p.Class, string(p.Kind), p.Sum, instant(p.MadeAt), strconv.Itoa(p.Samples),
		strconv.Itoa(p.FalsePositives), number(p.Upper), number(p.Lower)}
}

// AddProof takes a proof into account, if a process with the key made it.
func (s Seals) AddProof(c *reconcile.Controls, p reconcile.Proof, seal string) {
	if s.Holds(seal, ProofOf(&p)) {
		c.Proofs = append(c.Proofs, p)
	}
}
