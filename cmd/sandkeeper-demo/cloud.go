package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/vercel/verceltest"
)

// A cloud is the platform's own client of one provider. It is no part of sandkeeper: it is
// as naive as a platform's client is.
type cloud interface {
	create(ctx context.Context, labels map[string]string) (id string, err error)
	remove(ctx context.Context, id string) error // for good
	stop(ctx context.Context, id string) error   // what the provider has for it, if only an end
}

// newClouds are the platform's clients, by provider.
func newClouds(s *demoStage) map[string]cloud {
	out := map[string]cloud{}
	for _, p := range s.providers {
		c := &caller{title: p.title, url: p.url, http: &http.Client{Timeout: 10 * time.Second}}
		c.dress = func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+p.key) }
		switch p.name {
		case atDaytona:
			out[p.name] = &daytonaCloud{c}
		case atE2B:
			c.dress = func(r *http.Request) { r.Header.Set("X-API-Key", p.key) }
			out[p.name] = &e2bCloud{c}
		case atVercel:
			out[p.name] = &vercelCloud{c}
		}
	}
	return out
}

type daytonaCloud struct{ *caller }

func (c *daytonaCloud) create(ctx context.Context, labels map[string]string) (string, error) {
	var made struct{ ID string }
	err := c.call(ctx, http.MethodPost, "/sandbox", map[string]any{"snapshot": demoSnapshot, "labels": labels}, &made)
	return made.ID, err
}

func (c *daytonaCloud) remove(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodDelete, "/sandbox/"+id, nil, nil)
}

func (c *daytonaCloud) stop(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodPost, "/sandbox/"+id+"/stop", nil, nil)
}

func (c *daytonaCloud) activate(ctx context.Context, snapshot string) error {
	return c.call(ctx, http.MethodPost, "/snapshots/"+snapshot+"/activate", nil, nil)
}

// lasts is for how many seconds the platform asks, of those who want to know.
const lasts = 3600

type e2bCloud struct{ *caller }

func (c *e2bCloud) create(ctx context.Context, labels map[string]string) (string, error) {
	var made struct{ SandboxID string }
	err := c.call(ctx, http.MethodPost, "/sandboxes",
		map[string]any{"templateID": demoTemplate, "metadata": labels, "timeout": lasts}, &made)
	return made.SandboxID, err
}

func (c *e2bCloud) remove(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodDelete, "/sandboxes/"+id, nil, nil)
}

func (c *e2bCloud) stop(ctx context.Context, id string) error { return c.remove(ctx, id) }

type vercelCloud struct{ *caller }

const ofTeam = "?teamId=" + verceltest.Team

func (c *vercelCloud) create(ctx context.Context, labels map[string]string) (string, error) {
	var made struct{ Session struct{ ID string } }
	err := c.call(ctx, http.MethodPost, "/v2/sandboxes"+ofTeam,
		map[string]any{"projectId": verceltest.Project, "tags": labels, "timeout": lasts * 1000}, &made)
	return made.Session.ID, err
}

func (c *vercelCloud) remove(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodPost, "/v2/sandboxes/sessions/"+id+"/stop"+ofTeam, nil, nil)
}

func (c *vercelCloud) stop(ctx context.Context, id string) error { return c.remove(ctx, id) }

// A refusal is an answer of the provider that is no success.
type refusal struct {
	status  int
	Message string
}

func (r *refusal) Error() string { return fmt.Sprintf("%d: %s", r.status, r.Message) }

// A caller makes the calls of one client.
type caller struct {
	title, url string
	dress      func(*http.Request)
	http       *http.Client
}

func (c *caller) call(ctx context.Context, method, path string, in, out any) error {
	var body bytes.Buffer
	if in != nil {
		if err := json.NewEncoder(&body).Encode(in); err != nil {
			return fmt.Errorf("write the call %s: %w", path, err)
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, c.url+path, &body)
	if err != nil {
		return fmt.Errorf("make the call %s: %w", path, err)
	}
	c.dress(req)
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("ask the simulated %s: %w", c.title, err)
	}
	defer resp.Body.Close()
	answer := io.LimitReader(resp.Body, 1<<20)
	if resp.StatusCode >= 300 {
		no := &refusal{status: resp.StatusCode}
		_ = json.NewDecoder(answer).Decode(no) // without words the status says enough
		return no
	}
	if out == nil {
		_, err := io.Copy(io.Discard, answer)
		return err
	}
	return json.NewDecoder(answer).Decode(out)
}
