package wire

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A Stamp is a time that may be missing, null or nonsense, which are all the zero time.
type Stamp struct{ time.Time }

// UnmarshalJSON never fails: one odd stamp must not hide a whole listing.
func (s *Stamp) UnmarshalJSON(text []byte) error {
	if err := s.Time.UnmarshalJSON(text); err != nil || string(text) == "null" {
		s.Time = time.Time{}
	}
	s.Time = s.UTC()
	return nil
}

// A Millis is a [Stamp] written as milliseconds since 1970; 0 is the zero time.
type Millis struct{ time.Time }

// UnmarshalJSON never fails.
func (m *Millis) UnmarshalJSON(text []byte) error {
	m.Time = time.Time{}
	if number, err := strconv.ParseInt(string(text), 10, 64); err == nil && number > 0 {
		m.Time = time.UnixMilli(number).UTC()
	}
	return nil
}

// CheckID refuses what cannot be an id and would ask for something else in a path.
func CheckID(id string) error {
	bad := func(r rune) bool { return r < ' ' || r == 0x7f }
	if id == "" || id == "." || id == ".." || len(id) > 512 || strings.ContainsFunc(id, bad) {
		return fmt.Errorf("%w: %q", reconcile.ErrUnknownID, text.Clip(id, 40))
	}
	return nil
}

// clean takes the secrets out of an error's text. No layer below puts them there today.
func (c *Client) clean(err error) error {
	if text := c.Redact(err.Error()); text != err.Error() {
		return errors.New(text)
	}
	return err
}

// Redact takes the secrets out of a text, also as addresses and the usual encodings write
// them. It leaves very short ones, which no real server gives out, because they stand in
// common words. A text is redacted before it is cut: a part of a secret could stay.
func (c *Client) Redact(text string) string { return c.redactor.Replace(text) }

// spellings replaces secrets in all their spellings. Base64 depends on what stands before,
// so the last letters of it may stay.
func spellings(secrets []string) *strings.Replacer {
	const instead = "[token]"
	var pairs []string
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) }) // one may begin with another
	for _, secret := range secrets {
		if len(secret) < 6 {
			continue
		}
		pairs = append(pairs, secret, instead, url.QueryEscape(secret), instead, url.PathEscape(secret), instead)
		for _, before := range []string{"", "x", "xx", "Bearer "} {
			coded := base64.RawStdEncoding.EncodeToString([]byte(before + secret))
			inside := coded[(len(before)*8+5)/6 : len(coded)-1]
			pairs = append(pairs, inside, instead, strings.NewReplacer("+", "-", "/", "_").Replace(inside), instead)
		}
	}
	return strings.NewReplacer(pairs...)
}

// Tail is the end of a log, at most limit bytes, without secrets.
func (c *Client) Tail(log string, limit int) string { return text.Tail(c.Redact(log), limit) }

// MayKnowToken refuses to send the token in the clear to a host that the config does not
// name. Such an address comes from the control plane, and a proxy in between may have made
// it. Of this machine's own services it may name one only where the control plane is one of
// them.
func (c *Client) MayKnowToken(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.User != nil || strings.ContainsAny(address, "?#"):
		return fmt.Errorf("the toolbox's address %q is none", text.Clip(address, 100))
	case u.Scheme == "https", u.Scheme == "http" && (u.Host == c.base.Host ||
		text.Loopback(u.Hostname()) && text.Loopback(c.base.Hostname())):
		return nil
	}
	return fmt.Errorf("not sending the token to %s: it is neither https nor the host of url", text.Clip(address, 100))
}

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
