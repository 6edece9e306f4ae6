package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// A cloud is the platform's own client of its provider. It is no part of sandkeeper: it
// is as naive as a platform's client is.
type cloud struct {
	url, key string
	http     *http.Client
}

func newCloud(s *demoStage) *cloud {
	return &cloud{url: s.url, key: s.key, http: &http.Client{Timeout: 10 * time.Second}}
}

// create asks for a sandbox and returns its id.
func (c *cloud) create(ctx context.Context, labels map[string]string) (string, error) {
	var made struct{ ID string }
	err := c.call(ctx, http.MethodPost, "/sandbox", map[string]any{"snapshot": demoSnapshot, "labels": labels}, &made)
	return made.ID, err
}

func (c *cloud) remove(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodDelete, "/sandbox/"+id, nil, nil)
}

func (c *cloud) stop(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodPost, "/sandbox/"+id+"/stop", nil, nil)
}

func (c *cloud) start(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodPost, "/sandbox/"+id+"/start", nil, nil)
}

func (c *cloud) activate(ctx context.Context, snapshot string) error {
	return c.call(ctx, http.MethodPost, "/snapshots/"+snapshot+"/activate", nil, nil)
}

// A refusal is an answer of the provider that is no success.
type refusal struct {
	status  int
	Message string
}

func (r *refusal) Error() string { return fmt.Sprintf("%d: %s", r.status, r.Message) }

func (c *cloud) call(ctx context.Context, method, path string, in, out any) error {
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
	req.Header.Set("Authorization", "Bearer "+c.key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("ask the simulated Daytona: %w", err)
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
