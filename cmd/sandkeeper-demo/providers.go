package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/daytona/daytonatest"
	"github.com/sandkeeper/sandkeeper/providers/e2b/e2btest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/vercel/verceltest"
)

// The providers of the demo, as its config and the rows of its tasks name them.
const (
	atDaytona = "daytona"
	atE2B     = "e2b"
	atVercel  = "vercel"
)

// demoSnapshot is what the workers at Daytona are made from, and demoTemplate those at E2B.
const (
	demoSnapshot = "ai-agent-dev-light"
	demoTemplate = "ai-agent"
)

// demoShares is where the platform sends one task after the other.
func demoShares() []string { return []string{atDaytona, atE2B, atDaytona, atVercel, atDaytona} }

// A demoProvider is one provider of the demo: a world of sandboxes behind the vendor's own
// protocol, over real HTTP.
type demoProvider struct {
	*simulated.World
	name   string // in the config
	title  string // for people
	base   string // the path of its address
	url    string
	key    string
	speaks http.Handler
	server *http.Server
}

// demoWorlds are the providers before they can be called. There is room for all of the story.
func demoWorlds(now time.Time) []*demoProvider {
	limits := simulated.Limits{CPU: 1000, MemoryGiB: 2000, DiskGiB: 4000}
	one := &demoProvider{name: atDaytona, title: "Daytona", base: "/api", key: "dtn_" + rand.Text(),
		World: simulated.New(simulated.Options{StartAfter: time.Second, DeleteAfter: time.Second,
			ActivateAfter: time.Second, Limits: limits})}
	one.PutTemplate(simulated.Template{Name: demoSnapshot, LastUsedAt: now})
	one.speaks = daytonatest.New(one.World, daytonatest.Options{Key: one.key, TaskLabel: "task_id"})
	two := &demoProvider{name: atE2B, title: "E2B", key: "e2b_" + rand.Text(),
		World: simulated.New(simulated.Options{IDs: e2btest.ID, Limits: limits})}
	two.PutTemplate(simulated.Template{Name: demoTemplate, LastUsedAt: now})
	two.speaks = e2btest.New(two.World, e2btest.Options{Key: two.key, TaskLabel: "task_id"})
	three := &demoProvider{name: atVercel, title: "Vercel", key: "vca_" + rand.Text(),
		World: simulated.New(simulated.Options{IDs: verceltest.ID, StartAfter: time.Second, DeleteAfter: time.Second,
			Limits: limits})}
	three.speaks = verceltest.New(three.World, verceltest.Options{Key: three.key, TaskLabel: "task_id"})
	return []*demoProvider{one, two, three}
}

// serve lets the provider be called.
func (p *demoProvider) serve(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for the simulated %s: %w", p.title, err)
	}
	p.url = "http://" + listener.Addr().String() + p.base
	p.server = &http.Server{Handler: p.speaks, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = p.server.Serve(listener) }() // ends with Close, and has nothing else to say
	return nil
}

// place puts the sandbox of a task into the provider's world and returns its id.
func (p *demoProvider) place(j *job, created time.Time) string {
	made := simulated.Sandbox{Labels: labelsOf(j), CreatedAt: created}
	switch p.name {
	case atDaytona:
		made.Template = demoSnapshot
	case atE2B:
		made.Template = demoTemplate
	}
	return p.Put(made).ID
}

func (s *demoStage) startProviders(ctx context.Context) error {
	s.providers = demoWorlds(s.began)
	for _, p := range s.providers {
		if err := p.serve(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *demoStage) stopProviders() error {
	var errs []error
	for _, p := range s.providers {
		if p.server != nil {
			errs = append(errs, p.server.Close())
		}
	}
	return errors.Join(errs...)
}

// at is a provider by its name, one of the constants above.
func (s *demoStage) at(name string) *demoProvider {
	for _, p := range s.providers {
		if p.name == name {
			return p
		}
	}
	return nil
}

// home is the provider that has, or had, a sandbox: the ids of no two are alike. It is nil
// for what none has ever had.
func (s *demoStage) home(sandbox string) *demoProvider {
	for _, p := range s.providers {
		if _, known := p.Sandbox(sandbox); known {
			return p
		}
	}
	return nil
}

// sandbox is one sandbox as it really is, wherever that is.
func (s *demoStage) sandbox(id string) (simulated.Sandbox, bool) {
	p := s.home(id)
	if p == nil {
		return simulated.Sandbox{}, false
	}
	return p.Sandbox(id)
}

// change changes a sandbox by the hand of the story, wherever it is.
func (s *demoStage) change(id string, change func(*simulated.Sandbox)) {
	if p := s.home(id); p != nil {
		p.Change(id, change)
	}
}
