package generic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/formula"
	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// vars are what the placeholders of a call and its body are made of.
type vars map[string]any

// request makes the call.
func (p *Provider) request(c *call, v vars) (wire.Call, error) {
	texts := make(map[string]string, len(v))
	for name, value := range v {
		texts[name], _ = formula.Text(value)
	}
	k := wire.Call{What: c.what, Method: c.method}
	rest, err := c.address.Expand(texts)
	if err != nil {
		return k, err
	}
	host := c.address.Host()
	switch host {
	case "":
		host = p.client.At()
	case "{" + formula.Endpoint + "}":
		host = strings.TrimRight(texts[formula.Endpoint], "/")
		fallthrough
	default:
		err = p.client.MayKnowToken(host)
	}
	k.URL = host + rest
	if err == nil && c.body != nil {
		err = write(&k, c, v)
	}
	return k, err
}

// write makes the body of a call.
func write(k *wire.Call, c *call, v vars) error {
	value, err := c.body.Run(v)
	if err != nil {
		return fmt.Errorf("make the body of %s: %w", c.what, err)
	}
	if !c.form {
		k.Body, err = json.Marshal(value)
		return err
	}
	fields, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("make the body of %s: a form needs an object, like {id: id}", c.what)
	}
	form := url.Values{}
	for name, value := range fields {
		if text, ok := formula.Text(value); ok {
			form.Set(name, text)
		}
	}
	k.Body, k.Type = []byte(form.Encode()), "application/x-www-form-urlencoded"
	return nil
}

// A reply is an answer as expressions see it.
type reply struct {
	env   map[string]any
	code  int
	ours  bool // it is JSON, or empty: what a page of somebody else says means nothing
	empty bool
}

// read makes a reply of an answer. Only what is JSON has a body.
func (s *spec) read(a wire.Answer) reply {
	headers := make(map[string]any, len(a.Header))
	for name := range a.Header {
		headers[strings.ToLower(name)] = a.Header.Get(name)
	}
	empty := len(a.Body) == 0
	r := reply{code: a.Status, ours: empty, empty: empty,
		env: map[string]any{"status": a.Status, "headers": headers, "body": nil, "count": 0, "page": 0, "offset": 0}}
	if wire.IsJSON(a.Header) && !empty {
		body, err := formula.Decode(a.Body)
		r.env["body"], r.ours = body, err == nil
	}
	return r
}

// clear reports whether the answer may say anything of a sandbox at all: not where the
// credential, a limit or a breakdown speaks.
func (r reply) clear() bool {
	switch r.code {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
		return false
	}
	return r.ours && r.code < 500
}

// gone reports whether the answer says for certain that the sandbox is not there.
func (s *spec) gone(r reply) bool { return r.clear() && s.absent.Is(r.env) }

// words are an error in the platform's words, which may come with a 200.
func (s *spec) words(a wire.Answer) wire.APIError {
	said := wire.SaidIn(a)
	if s.said == nil {
		return said
	}
	if v, err := s.said.Run(s.read(a).env); err == nil {
		if text, ok := formula.Text(v); ok {
			said.Text, said.Field = text, "said"
		}
	}
	return said
}

// hear makes a call that only reads, and refuses what is no answer of the API.
func (p *Provider) hear(ctx context.Context, k wire.Call) (reply, wire.Answer, error) {
	a, err := p.client.Read(ctx, k)
	if err != nil {
		return reply{}, a, err
	}
	r := p.spec.read(a)
	if p.spec.gone(r) {
		return r, a, &wire.Refusal{Status: a.Status, Words: p.client.APIError(a).Text, Kind: reconcile.ErrNotFound}
	}
	return r, a, p.sound(r, a)
}

// sound refuses an answer that is no success, or no JSON to its end.
func (p *Provider) sound(r reply, a wire.Answer) error {
	err := p.client.Readable(a)
	if err == nil && (!r.ours || r.empty) {
		err = errors.New("the answer is no JSON")
	}
	return err
}
