//go:build !nomcp

package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// tools starts the verb as an agent's program does, and speaks to it with the official client.
func (a *arena) tools(args ...string) *mcp.ClientSession {
	a.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	child := a.prepare(append([]string{"mcp"}, args...)...)
	s, err := c.Connect(a.Context(), &mcp.CommandTransport{Command: child.cmd}, nil)
	if err != nil {
		a.Fatalf("%v: %s", err, &child.errs)
	}
	a.Cleanup(func() { _ = s.Close() })
	return s
}

func (a *arena) uses(s *mcp.ClientSession, tool string, args any) string {
	a.Helper()
	got, err := s.CallTool(a.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		a.Fatal(err)
	}
	text, _ := json.Marshal(got)
	return string(text)
}

// TestMCP: over stdin and stdout an agent reads what the ledger has, without a page or with one. What it proposes is
// recorded nowhere, ends nothing, and waits on the page for an operator.
func TestMCP(t *testing.T) {
	a := newArena(t, settings{mode: "observe", more: "web: {listen: \"127.0.0.1:0\", operators: [ana]}\nlog: {level: info}"})
	ws, orphan := a.working(1), a.box(nobody, time.Hour)
	a.once(0)
	reads := a.tools()
	for tool, c := range map[string]struct {
		args any
		want string
	}{
		"findings": {map[string]string{"rule": "orphan"}, orphan.ID}, "status": {nil, `\"installation\":\"test\"`},
		"explain": {map[string]string{"task": ws[0].task}, ws[0].sandbox}, "plan": {nil, "open_actions"},
	} {
		if got := a.uses(reads, tool, c.args); !strings.Contains(got, c.want) {
			t.Errorf("%s has no %s: %s", tool, c.want, got)
		}
	}
	d := a.daemon("serve")
	defer d.stop()
	token, _ := a.token("ana", "--scope", "act", "--reason", "an agent's tools")
	a.env = append(a.env, "SANDKEEPER_TOKEN="+strings.TrimPrefix(token, "Bearer "))
	url := strings.TrimSuffix(d.url(), "/")
	before := a.count("SELECT count(*) FROM sandkeeper.actions") + a.count("SELECT count(*) FROM sandkeeper.timeline")
	got := a.uses(a.tools("--url", url, "--propose"), "propose_terminate", map[string]string{"target": orphan.ID, "reason": "it costs money"})
	if !strings.Contains(got, "/act/terminate?") || !strings.Contains(got, orphan.ID) {
		t.Errorf("a proposal is answered with %s", got)
	}
	if n := a.count("SELECT count(*) FROM sandkeeper.actions") + a.count("SELECT count(*) FROM sandkeeper.timeline"); n != before || a.ended(orphan.ID) {
		t.Errorf("a proposal was recorded: %d rows, %d before", n, before)
	}
	if got := a.uses(a.tools("--url", url), "status", nil); !strings.Contains(got, `\"installation\":\"test\"`) {
		t.Errorf("the page's status is %s", got)
	}
	p := programClient{t, &http.Client{}, url}
	if page := p.want(200, "GET", "/operators", ""); !strings.Contains(page, "it costs money") {
		t.Errorf("the page shows no proposal: %s", page)
	}
	a.env = append(a.env, "SANDKEEPER_TOKEN=none")
	refused := a.prepare("mcp", "--url", url)
	refused.cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":7,"method":"tools/list"}` + "\n" + `{"jsonrpc":"2.0","method":"told"}` + "\n")
	out, err := refused.cmd.Output()
	if err != nil || !strings.Contains(string(out), `"id":7`) || !strings.Contains(string(out), "401") || strings.Count(string(out), "\n") != 1 {
		t.Errorf("with a wrong token: %s, %v", out, err)
	}
	for args, words := range map[string]string{
		"--propose": "need --url", "--url http://sandkeeper.example": "https://HOST", "--url https://ana:x@sandkeeper.example": "https://HOST",
	} {
		a.refuses(words, append([]string{"mcp"}, strings.Fields(args)...)...)
	}
}
