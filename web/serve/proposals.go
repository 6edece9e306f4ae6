package serve

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/web"
	"github.com/sandkeeper/sandkeeper/web/api"
)

const (
	proposalLasts = 24 * time.Hour
	mostProposals = 100
	mostOfOne     = 20 // so that one program does not take the room of all
)

// proposable are the verbs that a program for agents may propose. It asks for none.
var proposable = []string{"hold", "release", "terminate"}

// proposals are what agents proposed to this process. They are no requests: nothing is recorded until an operator
// confirms one, in his own name, and they end with the process.
type proposals struct {
	mu  sync.Mutex
	all []web.Proposal
}

// list are those that still count, newest first.
func (p *proposals) list(now time.Time) []web.Proposal {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = slices.DeleteFunc(p.all, func(one web.Proposal) bool { return now.Sub(one.At) >= proposalLasts })
	out := slices.Clone(p.all)
	slices.Reverse(out)
	return out
}

// add keeps one; the same one again counts once.
func (p *proposals) add(one web.Proposal) error {
	now := p.list(one.At)
	p.mu.Lock()
	defer p.mu.Unlock()
	of := 0
	for i := range now {
		if now[i].Verb == one.Verb && now[i].Target == one.Target {
			return nil
		}
		if now[i].By == one.By {
			of++
		}
	}
	if len(now) >= mostProposals || of >= mostOfOne {
		return &wrongRequest{http.StatusTooManyRequests, "too many proposals wait for an operator already"}
	}
	p.all = append(p.all, one)
	return nil
}

// confirmed forgets what an operator asked for himself.
func (p *proposals) confirmed(verb, target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = slices.DeleteFunc(p.all, func(one web.Proposal) bool { return one.Verb == verb && one.Target == target })
}

// A proposed is what a program gets to know of its proposal.
type proposed struct {
	Said      string      `json:"said"`
	ConfirmAt string      `json:"confirm_at"`
	Preview   api.Preview `json:"preview"`
}

// A proposer keeps what programs propose.
type proposer struct {
	Acts      Acts
	Log       *slog.Logger
	proposals *proposals
}

// propose keeps a proposal for an operator, after a look at what it would do. Nothing is recorded, and nothing is done.
func (s *proposer) propose(ctx context.Context, r *http.Request, verb string, act api.Act) (proposed, error) {
	v, known := api.VerbNamed(verb)
	if !known || !slices.Contains(proposable, verb) {
		return proposed{}, &wrongRequest{http.StatusNotFound, "no such proposal: " + text.Clip(verb, 60)}
	}
	if s.Acts == nil {
		return proposed{}, errActs
	}
	if err := checkAct(v, act); err != nil {
		return proposed{}, err
	}
	preview, err := s.Acts.Preview(ctx, verb, act)
	var refused *api.Refusal
	if errors.As(err, &refused) {
		err = &wrongRequest{refused.Status, refused.Why}
	}
	if err != nil {
		return proposed{}, err
	}
	one := web.Proposal{Verb: verb, Target: text.Line(act.Target), Reason: text.Clip(act.Reason, 500),
		By: callerOf(r).author(), At: time.Now()}
	if err := s.proposals.add(one); err != nil {
		return proposed{}, err
	}
	s.Log.InfoContext(ctx, "proposed by a program", "act", verb, "target", text.Clip(act.Target, 200), "by", one.By)
	query := url.Values{"target": {one.Target}, "reason": {one.Words()}}
	return proposed{ConfirmAt: "/act/" + verb + "?" + query.Encode(), Preview: preview,
		Said: "Nothing was done and nothing was recorded. An operator may confirm it on the page within a day, or not."}, nil
}
