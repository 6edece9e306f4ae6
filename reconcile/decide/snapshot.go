package decide

import (
	"cmp"
	"sort"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// Judgement is what judging a snapshot came to.
type Judgement struct {
	Decisions      []Decision          // one per subject, ordered by subject
	Reports        []reconcile.Finding // findings that are no subject's: templates, clocks
	Resolved       []reconcile.FindingKey
	Sources        []reconcile.SourceSeen
	Counts         map[string]int
	Verdicts       []reconcile.Verdict // that came with this pass
	FalsePositives []reconcile.FalsePositive
	Over           []int64              // verdicts that are not watched any more
	Incidents      []reconcile.Incident // open ones and those that this pass closes
	Demoted        []reconcile.Demotion
	Refuted        map[string][]string // by rule: the tenants for whom it is held, because it was wrong about theirs alone
	Tallies        []reconcile.Counter // of lives, see [Counter]; set when the pass is recorded
	Fleet          int                 // owned sandboxes of the trusted listings, else of the inventory

	View   *view.View `json:"-"` // what it was judged from; never part of what is compared as bytes
	drafts []*draft   // what the decisions call for, before limits
}

// A Decision is the one verdict on one subject in one pass.
type Decision struct {
	Subject  *reconcile.Subject
	Findings []reconcile.Finding // in the order of the rules; empty when healthy
	Remedies []reconcile.Remedy  // of the findings
	Kept     string              // why a suspect was judged healthy; "" for a plainly healthy one
	KeptBy   string              // the rule that suspected it
	Look     bool                // a direct look is needed before it can be judged
	Probe    bool                // a probe would settle it
	Unlooked bool                // it needs a look that it did not get: it was not its turn
	Blind    bool                // the look that it needs failed, and nothing else says that it is well: nobody knows
}

// Plain is how many live rows were counted and not kept: they have no decision, for there is nothing to decide.
func (j *Judgement) Plain() int {
	if j.View == nil {
		return 0
	}
	return j.View.S.Plain.Tasks
}

// place is where the decision on a subject stands, if there is one.
func (j *Judgement) place(subject string) (int, bool) {
	return sort.Find(len(j.Decisions), func(i int) int { return cmp.Compare(subject, j.Decisions[i].Subject.ID) })
}

// BoxesOf are the sandboxes of a judged subject.
func (j *Judgement) BoxesOf(subject string) []reconcile.SeenSandbox {
	at, judged := j.place(subject)
	if !judged {
		return nil
	}
	return j.Decisions[at].Subject.Boxes
}

// subjects are those that were decided on.
func (j *Judgement) subjects() []*reconcile.Subject {
	out := make([]*reconcile.Subject, len(j.Decisions))
	for i := range j.Decisions {
		out[i] = j.Decisions[i].Subject
	}
	return out
}
