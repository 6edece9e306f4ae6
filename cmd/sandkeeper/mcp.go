package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

const (
	toolWithin   = 30 * time.Second
	toolMessage  = 16 << 10 // as much as the server takes
	toolAnswered = 8 << 20
)

// mcpFlags are those of mcp.
type mcpFlags struct {
	url, tokenFile string
	propose        bool
}

func mcpCommand(o *app.Options) *cobra.Command {
	f := &mcpFlags{}
	c := &cobra.Command{
		Use:   "mcp",
		Short: "Tools for an agent over stdin and stdout, by the Model Context Protocol: they read, or propose",
		Long: `Mcp gives an agent tools, by the Model Context Protocol over stdin and stdout. They read: status, findings,
incidents, explain, plan. Without --url they read the ledger that the config names; with it they are those of
a page, at /mcp, with a token (variable SANDKEEPER_TOKEN, or --token-file). A client that speaks HTTP asks
/mcp itself.

With --propose the tools are others: they propose a hold, a release or a termination, which an operator confirms on
the page or not. That takes --url and a token that may act, of an operator. Give it to this process alone, and never
to the agent: what holds such a token may act by the API.

What a tenant wrote stands under the key "untrusted". Nothing is done by any of these tools.`,
		Example: "  sandkeeper mcp\n  SANDKEEPER_TOKEN=... sandkeeper mcp --url https://sandkeeper.example\n" +
			"  sandkeeper mcp --propose --url https://sandkeeper.example --token-file act.token",
		Args: verb.Needs(),
		RunE: func(cmd *cobra.Command, _ []string) error { return usage(f.run(cmd.Context(), o, os.Stdin)) },
	}
	c.Flags().StringVar(&f.url, "url", "", "address of the page whose tools are used; without it the ledger is read")
	c.Flags().StringVar(&f.tokenFile, "token-file", "", "file with the token; without it SANDKEEPER_TOKEN has it")
	c.Flags().BoolVar(&f.propose, "propose", false, "tools that propose to an operator, instead of those that read")
	return c
}

func (f *mcpFlags) run(ctx context.Context, o *app.Options, in io.Reader) error {
	if f.url == "" {
		if f.propose || f.tokenFile != "" {
			return app.Misusef("--propose and --token-file need --url: an operator confirms on that page")
		}
		return onLedger(ctx, o, func(a *app.App) error {
			site := askingOf(a.Site()) //nolint:bodyclose // it is asked below, and carry closes what it answers
			b := &bridge{to: site, url: "http://localhost/mcp", out: o.Out}
			return b.run(ctx, in)
		})
	}
	b, err := f.remote(o)
	if err != nil {
		return err
	}
	return b.run(ctx, in)
}

// remote is a bridge to a page. A token goes over TLS, or stays on this machine.
func (f *mcpFlags) remote(o *app.Options) (*bridge, error) {
	u, err := url.Parse(f.url)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" ||
		u.Scheme != "https" && (u.Scheme != "http" || !text.Loopback(u.Hostname())) {
		return nil, app.Misusef("--url is the address of a page: https://HOST, or http:// on this machine")
	}
	token, _ := o.Lookup("SANDKEEPER_TOKEN")
	if f.tokenFile != "" {
		read, err := os.ReadFile(f.tokenFile)
		if err != nil {
			return nil, fmt.Errorf("read the token: %w", err)
		}
		token = string(read)
	}
	path := "/mcp"
	if f.propose {
		path += "/propose"
	}
	client := &http.Client{Timeout: toolWithin, CheckRedirect: func(*http.Request, []*http.Request) error {
		return errors.New("a redirect is not followed: the token is for --url alone")
	}}
	return &bridge{to: client.Do, url: u.JoinPath(path).String(), token: strings.TrimSpace(token), out: o.Out}, nil
}

// A bridge carries messages of an agent to a server of tools, and the answers back: one line each.
type bridge struct {
	to    func(*http.Request) (*http.Response, error)
	url   string
	token string
	out   io.Writer
}

// run carries messages until the agent closes its end.
func (b *bridge) run(ctx context.Context, in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, toolMessage)
	for lines.Scan() && ctx.Err() == nil {
		message := bytes.TrimSpace(lines.Bytes())
		if len(message) == 0 {
			continue
		}
		answer, err := b.carry(ctx, message)
		if err != nil {
			answer = failedMessage(message, err)
		}
		if len(answer) == 0 {
			continue
		}
		if _, err := fmt.Fprintf(b.out, "%s\n", answer); err != nil {
			return fmt.Errorf("answer the agent: %w", err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read from the agent: %w", err)
	}
	return nil
}

// carry carries one message; what is only told has no answer.
func (b *bridge) carry(ctx context.Context, message []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, toolWithin)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, b.url, bytes.NewReader(message))
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", b.url, err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if b.token != "" {
		r.Header.Set("Authorization", "Bearer "+b.token)
	}
	answer, err := b.to(r)
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", b.url, err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, toolAnswered))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the answer of %s: %w", b.url, err)
	case answer.StatusCode == http.StatusAccepted:
		return nil, nil
	case answer.StatusCode != http.StatusOK && !json.Valid(body):
		return nil, fmt.Errorf("%s answers %s: %s", b.url, answer.Status, text.Clip(string(body), 300))
	}
	var line bytes.Buffer
	if err := json.Compact(&line, body); err != nil {
		return nil, fmt.Errorf("%s answers with what is no JSON", b.url)
	}
	return line.Bytes(), nil
}

// failedMessage tells the agent why a message has no answer. What it only told needs none.
func failedMessage(message []byte, why error) []byte {
	var asked struct {
		ID json.RawMessage `json:"id"`
	}
	if err := json.Unmarshal(message, &asked); err == nil && asked.ID == nil {
		return nil
	}
	if asked.ID == nil {
		asked.ID = json.RawMessage("null")
	}
	said, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": asked.ID,
		"error": map[string]any{"code": -32603, "message": text.Line(why.Error())}})
	if err != nil { // unreachable: texts and numbers
		return nil
	}
	return said
}

// askingOf asks a handler of this process, as a client asks a server.
func askingOf(h http.Handler) func(*http.Request) (*http.Response, error) {
	return func(r *http.Request) (*http.Response, error) {
		w := &kept{header: http.Header{}, status: http.StatusOK}
		h.ServeHTTP(w, r)
		return &http.Response{StatusCode: w.status, Status: http.StatusText(w.status), Header: w.header,
			Body: io.NopCloser(&w.body)}, nil
	}
}

// kept is an answer that is not sent anywhere.
type kept struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header is that of the answer.
func (k *kept) Header() http.Header { return k.header }

// WriteHeader keeps the status.
func (k *kept) WriteHeader(status int) { k.status = status }

// Write keeps the body.
func (k *kept) Write(p []byte) (int, error) { return k.body.Write(p) }
