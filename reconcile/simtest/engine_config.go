package simtest

import (
	"log/slog"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/history"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/platform"
)

// configs are what processes are told by files of their own, besides the one of all.
type configs struct {
	own     map[string][][]string // changes by process, while a new config is rolled out
	without map[string]string     // rules that a version does not know, by process; "" is all of them
}

// reconfigure carries out a change of the config. Who runs reads it before the next thing that
// it does.
func (e *engine) reconfigure(args []string) error {
	at, change, err := parseConfig(args)
	if err != nil {
		return err
	}
	for _, r := range e.replica {
		r.reload = r.reload || at == "" || r.is(at)
	}
	switch {
	case change[0] == "version":
		e.config.without[at] = ""
		if len(change) == 3 {
			e.config.without[at] = change[2]
		}
		e.cover.add("event", "config version")
	case at != "":
		e.config.own[at] = append(e.config.own[at], change)
		e.cover.add("event", "config at")
	default:
		e.cover.add("event", "config "+change[0])
		return e.place.Reconfigure(change)
	}
	return nil
}

// configure gives a process the config of now.
func (e *engine) configure(p *process) {
	p.policy, p.without = e.place.Policy(), map[string]bool{}
	p.policy.Small = p.small
	for _, at := range history.SortedKeys(e.config.own) {
		if !p.is(at) {
			continue
		}
		for _, change := range e.config.own[at] {
			if err := platform.Configure(&p.policy, change); err != nil {
				e.err = err
			}
		}
	}
	for at, rules := range e.config.without {
		if rules == "" || at != "" && !p.is(at) {
			continue
		}
		for rule := range strings.SplitSeq(rules, ",") {
			p.without[rule] = true
			delete(p.policy.Rules, rule)
		}
	}
	e.place.Begins(p.name, p.policy)
}

// keeper is what runs in a part of a process.
func (e *engine) keeper(p *process, worker int) *run.Reconciler {
	s := &seat{e, p, worker}
	k := &run.Reconciler{
		Policy: p.policy, Ledger: ledgerCalls{s}, Providers: map[string]reconcile.Provider{}, Queue: boardCalls{s},
		Notices: noticeCalls{s}, Notifier: noticeCalls{s}, Holder: p.holder(), Log: slog.New(slog.DiscardHandler),
		Parallel: 1, Sieved: p.sieved, Small: p.seen,
	}
	if p.sieved > 0 {
		k.Standing = p.standing
	}
	if !p.policy.Tasks.None {
		k.Tasks = taskCalls{s}
	}
	for name, provider := range e.place.Providers() {
		if _, ours := p.policy.Providers[name]; ours {
			k.Providers[name] = providerCalls{s, name, provider}
		}
	}
	return k
}

// checkConfigure checks a change of the config without a world.
func checkConfigure(change []string) error {
	return platform.Configure(&reconcile.Policy{Rules: platform.DefaultRules()}, change)
}
