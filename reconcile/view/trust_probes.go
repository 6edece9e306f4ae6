package view

import (
	"cmp"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// assessProbes: the same failure everywhere is the provider's, not the sandboxes'. Each
// sandbox counts once by its latest result within the window; one that failed convicts
// only while another answers.
func (v assessor) assessProbes(provider string, subs []reconcile.Subject) {
	p := v.P.Providers[provider].Probe
	if p.Off {
		return
	}
	window := max(3*p.Every, 5*time.Minute)
	probes, queues := tallies{}, tallies{}
	for _, b := range v.probed(provider, subs) {
		tenant, seen := v.boxTenant(&b), b.Probes
		if queue := seen.RecentQueue(v.Now.Add(-window)); queue != reconcile.QueueUnknown {
			queues.add(tenant, queue == reconcile.QueueWaiting)
		}
		last := ProbeSeenVerdict(*seen)
		if failed := last.Outcome.Failed(); !last.At.IsZero() && v.Now.Sub(last.At) <= window &&
			(failed || last.Outcome == reconcile.Answered) {
			probes.add(tenant, failed)
		}
	}
	name := reconcile.ProbesOf(provider)
	v.trust(name, v.settle(name, probeDoubts(probes, queues)...))
}

// probeDoubts are what makes the probes at a provider say nothing of a sandbox.
func probeDoubts(probes, queues tallies) (doubts []doubt) {
	//guard:probes-most harm
	doubts = append(doubts, doubt{probes, mostOfThree, func(t tally) reconcile.Distrust {
		return said("%d of the %d sandboxes probed recently fail: the same failure everywhere is the provider's",
			t.against, t.of)
	}, true})
	//guard:queues-most harm
	doubts = append(doubts, doubt{queues, mostOfThree, func(t tally) reconcile.Distrust {
		return said("the executions of %d of %d sandboxes wait: the same failure everywhere is the provider's",
			t.against, t.of)
	}, true})
	alone := func(t tally) bool { return t.against > 0 && t.against == t.of }
	//guard:probes-alone harm
	doubts = append(doubts, doubt{probes, alone, func(t tally) reconcile.Distrust {
		return said("%d sandboxes fail their probe and no other answered: nothing to compare with", t.against)
	}, true})
	return doubts
}

// probed are the probes of the sandboxes that are there. A quick pass sees only suspects,
// so the ledger's inventory tells it who else answered.
func (v assessor) probed(provider string, subs []reconcile.Subject) map[reconcile.Ref]reconcile.SeenSandbox {
	out := map[reconcile.Ref]reconcile.SeenSandbox{}
	for i := range subs {
		for _, b := range subs[i].Boxes {
			if b.Provider == provider && b.Here {
				out[b.Ref] = b
			}
		}
	}
	if v.S.Kind == reconcile.Full {
		for ref, probes := range v.S.Memory.Probes {
			was, _ := v.S.Memory.Sandboxes.At(ref)
			if ref.Provider == provider && v.S.Plain.HasSandbox(was) {
				b := reconcile.RememberedBox(was)
				b.Probes = &probes
				out[ref] = b
			}
		}
		return out
	}
	for ref, probes := range v.S.Memory.Probes {
		was, known := v.S.Memory.Sandboxes.At(ref)
		if known && ref.Provider == provider && !was.Gone() {
			b, here := out[ref]
			if !here {
				b = reconcile.Box(&reconcile.Sandbox{Ref: ref})
			}
			b.Was, b.Probes = was, &probes
			out[ref] = b
		}
	}
	return out
}

// ProbeSeenVerdict is the newest result that says anything of the sandbox.
func ProbeSeenVerdict(p reconcile.ProbeSeen) reconcile.ProbeResult {
	if n := len(p.Failures); n > 0 {
		return p.Failures[n-1]
	}
	if !p.LastAnswered.IsZero() {
		return reconcile.ProbeResult{Ref: p.Ref, Outcome: reconcile.Answered, At: p.LastAnswered}
	}
	return reconcile.ProbeResult{}
}

// pair finds orphans that may be the sandboxes of tasks that show life and have none: the
// create succeeded and the label or the answer was lost. One task shields one sandbox.
func (v assessor) pair(subs []reconcile.Subject) {
	v.Pairs = map[reconcile.Ref]string{}
	var lonely []*reconcile.Subject
	for i := range subs {
		s := &subs[i]
		if s.Task == nil || s.LinkState != reconcile.LinkLive ||
			s.HasBox(v.hasFor) || v.unlisted(s) {
			continue
		}
		if _, alive := v.Alive(s.Task); alive {
			lonely = append(lonely, s)
		}
	}
	v.byAge(lonely)
	for _, b := range v.unmatched(subs) {
		lonely = v.match(b, lonely)
	}
}

// hasFor reports whether the sandbox stands for one that its task has: it is seen, or a pass without a listing
// remembers it and knows of no end.
func (v assessor) hasFor(b *reconcile.SeenSandbox) bool {
	return b.Here || v.S.Kind != reconcile.Full && b.Known && !b.Gone && b.Seen().GoneAt.IsZero()
}

// unlisted reports whether the task's present state began after the newest listing, in a look that has the ledger's
// inventory in its place: then nobody knows whether it has one. A quick pass that sights an orphan again has none, and
// takes it for one that may have it.
func (v assessor) unlisted(s *reconcile.Subject) bool {
	return v.S.Inventory && (!s.Known || s.Seen().Since.After(v.S.Memory.LastFull.Add(-v.P.Quick)))
}

// byAge puts tasks whose provider is known first, each group youngest first: together with
// sandboxes youngest first, that shields as many as can be.
func (v assessor) byAge(tasks []*reconcile.Subject) {
	slices.SortStableFunc(tasks, func(a, b *reconcile.Subject) int {
		older, _ := v.StateAge(a)
		younger, _ := v.StateAge(b)
		return cmp.Or(cmp.Compare(b.Task.Provider, "")-cmp.Compare(a.Task.Provider, ""), cmp.Compare(older, younger))
	})
}

// unmatched are the living sandboxes of ours that no task and no further table explains, youngest first. Those on
// their way out need no shield, and take none from another.
func (v assessor) unmatched(subs []reconcile.Subject) []reconcile.SeenSandbox {
	var out []reconcile.SeenSandbox
	for i := range subs {
		s := &subs[i]
		//guard:pair-explained harm
		if s.Task != nil || len(s.Boxes) != 1 || s.LinkState == reconcile.LinkExplained {
			continue
		}
		b := s.Boxes[0]
		if b.Here && b.Owned && b.State != reconcile.SandboxEnded && b.State != reconcile.SandboxDeleting &&
			v.S.Memory.CanaryOf(b.Sandbox) == nil {
			out = append(out, b)
		}
	}
	slices.SortStableFunc(out, func(a, b reconcile.SeenSandbox) int { return cmp.Compare(v.Born(a), v.Born(b)) })
	return out
}

// match gives the sandbox to the first task that it may belong to.
func (v assessor) match(b reconcile.SeenSandbox, lonely []*reconcile.Subject) []*reconcile.Subject {
	for i, s := range lonely {
		if s.Task.Provider != "" && !v.P.Unplaced(s.Task) && s.Task.Provider != b.Provider {
			continue
		}
		//guard:pair-tenant live
		if whose := v.boxTenant(&b); whose != "" && s.Task.Tenant != "" && whose != s.Task.Tenant {
			continue
		}
		//guard:pair-elsewhere live
		if v.worksElsewhere(s, &b) {
			continue
		}
		age, _ := v.StateAge(s)
		lasting := b.StableName && !v.placed(b.Provider, s.Task)
		//guard:pair-lasting harm
		if apart := (age - v.Born(b)).Abs(); !lasting && apart > 10*time.Minute {
			continue
		}
		v.Pairs[b.Ref] = s.Task.ID
		return append(lonely[:i:i], lonely[i+1:]...)
	}
	return lonely
}

// worksElsewhere reports whether the worker of a task that shows life is known not to be in the sandbox: the command
// that looks for workers found none there when the task had long begun, nor at any time before, and the worker spoke
// since.
func (v assessor) worksElsewhere(s *reconcile.Subject, b *reconcile.SeenSandbox) bool {
	last := b.Probes.Last
	//guard:elsewhere-answered harm
	if last.Outcome != reconcile.Answered || last.Worker != reconcile.WorkerDead {
		return false
	}
	//guard:elsewhere-alike harm
	if !v.findsWorkersIn(b) {
		return false
	}
	//guard:elsewhere-never harm
	if at := b.Probes.WorkerAt; !at.IsZero() && (!b.Known || !at.Before(b.Seen().FirstSeen)) {
		return false
	}
	//guard:elsewhere-begun harm
	if !s.Known || last.At.Sub(s.Seen().Since) < v.toBegin() {
		return false
	}
	//guard:elsewhere-since harm
	if TaskAhead(s.Task) || v.Now.Sub(last.At) <= s.Task.AsOf.Sub(v.Sign(s.Task))+reconcile.Skew {
		return false
	}
	return true
}

// findsWorkersIn reports whether the command that looks for workers found one lately in a sandbox of the same template:
// it may not know those of another image.
func (v assessor) findsWorkersIn(b *reconcile.SeenSandbox) bool {
	for ref, seen := range v.S.Memory.Probes {
		if ref.Provider == b.Provider && !seen.WorkerAt.IsZero() && v.Now.Sub(seen.WorkerAt) <= time.Hour &&
			v.S.Memory.Sandboxes.Of(ref).Template == b.Template {
			return true
		}
	}
	return false
}

// toBegin is within what time a worker has begun for certain, once its row says so.
func (v assessor) toBegin() time.Duration {
	return max(10*time.Minute, v.P.Rules["provisioning-stuck"].After, v.P.Rules["assigned-stale"].After)
}

// placed reports whether a direct look at the provider has shown where the sandbox is that the row
// names: nowhere, or, of those that have its name, which is one at a time, in one that is there.
func (v assessor) placed(provider string, t *reconcile.Task) bool {
	find, asked := v.S.Finds[t.ID]
	if v.S.Lookups[reconcile.Ref{Provider: provider, ID: t.Sandbox}].Gone {
		return true
	}
	if !asked || find.Error != "" || !v.P.Providers[provider].ByKey(t) {
		return false
	}
	return len(find.Sandboxes) == 0 || slices.ContainsFunc(find.Sandboxes, func(sb reconcile.Sandbox) bool {
		return sb.Provider == provider && sb.State == reconcile.SandboxRunning && sb.CalledBy(t.Sandbox)
	})
}
