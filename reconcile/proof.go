package reconcile

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A ProofPolicy is what a rule must show on this platform's own history before enforce acts. The zero value asks
// for nothing: rules act unproven.
type ProofPolicy struct {
	FalsePositives float64 // the most that the upper bound of their rate may be, from 0 to 1
	Samples        int     // over so many cases at least; 0: nothing is asked for
	Mapping        string  // a sum of what rows and events mean: a proof for another is none
	Owners         string  // a sum of which sandboxes are ours, and how they are linked
}

// Off reports whether rules act unproven.
func (p ProofPolicy) Off() bool { return p.Samples <= 0 }

// A ProofKind says by what a rule may act.
type ProofKind string

// The kinds of proofs, and what stands in the place of one.
const (
	ProofNone     ProofKind = ""         // nothing: the rule is held
	ProofBacktest ProofKind = "backtest" // the finished tasks of this platform
	ProofObserved ProofKind = "observed" // what it would have done, followed for a while
	ProofArmed    ProofKind = "armed"    // an operator's word
	ProofGrace    ProofKind = "grace"    // it enforced before there was a gate
	ProofOff      ProofKind = "off"      // the config asks for none
	ProofNeedless ProofKind = "needless" // the rule ends nothing
)

// ProofAll is the class of all that a rule judges.
const ProofAll = "all"

// The ages of a proof: it is made again after a month, and a while later it is none any more.
const (
	ProofFresh = 30 * 24 * time.Hour
	ProofLasts = 37 * 24 * time.Hour
)

// proofVersion changes when a rule comes to find other things: old proofs are none then.
const proofVersion = 1

// historyVersion changes when a history comes to show other things: it is asked again then.
const historyVersion = 2

// A Proof is what was seen of how often a rule is wrong here, of all that it judges or of a class.
type Proof struct {
	Rule, Class    string
	Kind           ProofKind // backtest or observed
	Sum            string    // of what it was made for, see [Policy.ProofSum]
	MadeAt         time.Time // ledger's clock
	Samples        int
	FalsePositives int
	Upper, Lower   float64       // of the rate of false positives, each with 95 % confidence
	Line           string        // for people: what was seen, and what would do
	Took           time.Duration // to make it
}

// An Arm is an operator's word that a rule may act unproven.
type Arm struct {
	Attribution
	At time.Time
}

// An Observed is what a rule would have done since it is as it is now, and how often it would have been wrong.
type Observed struct {
	Rule                    string
	Since                   time.Time
	Samples, FalsePositives int
	Groups                  []LabelGroup // labels of what it would have been wrong about
}

// A Standing says whether a rule may act in enforce, and by what.
type Standing struct {
	Kind  ProofKind
	Until time.Time // when it ends by itself; zero: not
	Line  string    // for people: why, or why not
}

// Proven reports whether the rule may act.
func (s Standing) Proven() bool { return s.Kind != ProofNone }

// Held is what an unproven rule's steps are held by.
func (s Standing) Held() Held { return Held{Kind: HeldUnproven, Reason: s.Line} }

// NeedsProof reports whether the rule must be proven to act: its remedy changes or ends something of a task or a
// sandbox. A template that is made usable again ends nothing.
func (p *Policy) NeedsProof(rule string) bool {
	r, known := p.Rules[rule]
	return !p.Proof.Off() && (!known || r.Remedy != Report && r.Remedy != Activate)
}

// ProofSum tells what a proof of the rule was made for: what the mapping means, the rule's thresholds, and of what
// was observed also which sandboxes are ours. A proof with another sum is none.
func (p *Policy) ProofSum(rule string, kind ProofKind) string {
	r := p.Rules[rule]
	r.Mode, r.Named, r.Rollout, r.Remedy, r.MakeRoom = "", false, 0, "", false
	h := fnv.New64a()
	fmt.Fprintf(h, "%d\x00%s\x00%s\x00%+v", proofVersion, rule, p.Proof.Mapping, r)
	if kind == ProofBacktest {
		fmt.Fprintf(h, "\x00%d", historyVersion)
	} else {
		fmt.Fprintf(h, "\x00%s", p.Proof.Owners)
	}
	return strconv.FormatUint(h.Sum64(), 36)
}

// Standing says whether the rule may act on a subject of these classes, by what the ledger knows now.
func (p *Policy) Standing(c *Controls, now time.Time, rule string, classes ...string) Standing {
	switch {
	case p.Proof.Off():
		return Standing{Kind: ProofOff, Line: "the config asks for no proof (proof: off)"}
	case !p.NeedsProof(rule):
		return Standing{Kind: ProofNeedless, Line: "it ends nothing"}
	}
	proven := p.byProofs(c, now, rule, classes)
	arm, armed := c.Arms[rule]
	switch {
	case proven.Proven():
		return proven
	case armed:
		return Standing{Kind: ProofArmed, Line: fmt.Sprintf("armed unproven by %s: %s", arm.Author,
			text.Clip(arm.Reason, mostBecause))}
	case c.Grace[rule].After(now):
		return Standing{Kind: ProofGrace, Until: c.Grace[rule], Line: "it enforced before proofs were asked for, and " +
			"goes on until " + text.Time(c.Grace[rule]) + "; " + proven.Line}
	}
	return proven
}

// byProofs is the standing by the proofs alone: that of the subject's own class counts before that of all, and one
// class that is clearly worse is not covered by all the others.
func (p *Policy) byProofs(c *Controls, now time.Time, rule string, classes []string) Standing {
	line, told := "not proven on your history: it was not held against it yet", false
	var found *Proof
	for i := range c.Proofs {
		one := &c.Proofs[i]
		if one.Rule != rule || one.Class != ProofAll && !slices.Contains(classes, one.Class) {
			continue
		}
		if stale := p.stale(one, now); stale != "" {
			if !told {
				line = stale
			}
			continue
		}
		switch {
		//guard:proof-class harm
		case one.Class != ProofAll && one.Lower > p.Proof.FalsePositives:
			return Standing{Line: one.Line}
		//guard:proof-used harm
		case one.Kind == ProofObserved && !Watched(rule) && one.FalsePositives >= FalsePositivesLeast &&
			one.Lower > p.Proof.FalsePositives: // rows and events do not show who uses what is left
			return Standing{Line: one.Line}
		case p.Proof.Shown(one) && (found == nil || one.Class != ProofAll):
			found = one
		case one.Class == ProofAll && (one.Kind == ProofBacktest || !told):
			line, told = one.Line, true
		}
	}
	if found != nil {
		return Standing{Kind: found.Kind, Until: found.MadeAt.Add(ProofLasts), Line: found.Line}
	}
	return Standing{Line: line}
}

// stale says why a proof is none any more.
func (p *Policy) stale(one *Proof, now time.Time) string {
	//guard:proof-sum harm
	if one.Sum != p.ProofSum(one.Rule, one.Kind) {
		return "not proven on your history: its proof was made for another config, and is made again"
	}
	//guard:proof-age harm
	if now.Sub(one.MadeAt) > ProofLasts {
		return "not proven on your history: its proof of " + text.Time(one.MadeAt) + " is too old"
	}
	return ""
}

// Shown reports whether the proof shows what is asked for.
func (p ProofPolicy) Shown(one *Proof) bool {
	//guard:proof-bound harm
	return one.Samples >= p.Samples && one.Samples > 0 && one.Upper <= p.FalsePositives
}

// ProofClasses are the classes that a subject belongs to.
func ProofClasses(s *Subject) (classes []string) {
	if s == nil {
		return nil
	}
	if template := s.Template(); template != "" {
		classes = append(classes, "template="+template)
	}
	if provider := s.Provider(); provider != "" {
		classes = append(classes, "provider="+provider)
	}
	if s.Task != nil {
		if part := HourPart(s.Task.CreatedAt); part != "" {
			classes = append(classes, ClassHour+"="+part)
		}
		for column, value := range s.Task.Attrs {
			classes = append(classes, "task."+column+"="+value)
		}
	}
	return classes
}

// A CurvePoint is what a rule would have come to with one threshold.
type CurvePoint struct {
	After          time.Duration
	FalsePositives int
	Rate, Upper    float64
	DeadHours      float64       // of work of the dead before they are found
	Delay          time.Duration // at most so late half of the dead are found
}

// A Curve is what the last backtest of a rule came to by threshold, for its picture.
type Curve struct {
	Rule                    string
	At                      time.Time // ledger's clock
	After, Suggested        time.Duration
	Samples, FalsePositives int
	Upper                   float64
	Points                  []CurvePoint
}

// ReadProgress is how far a history has been read by runs that each have little time for it.
type ReadProgress struct {
	Key          string    // of what is asked of it
	Since, Until time.Time // its span, by the task database's clock
	After        string    // the task after which to go on
	Tasks        int       // that were read
	State        []byte    // what they came to so far
}
