package protocol

import (
	"crypto/subtle"
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// CheckToken refuses a token that names nobody, is good for nothing known, or has no end in sight.
func CheckToken(t reconcile.Token, now time.Time) error {
	switch {
	case t.User == "":
		return fmt.Errorf("token: no user is named, in whose name it is")
	case t.Scope != reconcile.TokenReads && t.Scope != reconcile.TokenActs:
		return fmt.Errorf("token for %s: scope %q; it is %s or %s", t.User, t.Scope, reconcile.TokenReads,
			reconcile.TokenActs)
	case !t.Until.After(now):
		return fmt.Errorf("token for %s: its end %s is not in the future", t.User, text.Time(t.Until))
	case t.Until.Sub(now) > reconcile.TokenMost:
		return fmt.Errorf("token for %s: it would last longer than %s", t.User, text.Duration(reconcile.TokenMost))
	}
	return nil
}

// TokenOf is the request that makes a token.
func TokenOf(t *reconcile.Token) []string {
	return []string{"token", t.ID, t.User, string(t.Scope), t.Hash, t.Author, t.Reason, instant(t.At), instant(t.Until)}
}

// Admits says why a token does not count for who shows this secret, "" when it does. What somebody without the operator
// key wrote is no token: it would have requests signed.
func (s Seals) Admits(t *reconcile.Token, secret string, now time.Time) string {
	switch {
	case subtle.ConstantTimeCompare([]byte(t.Hash), []byte(reconcile.SecretHash(secret))) != 1:
		return "its secret is another one"
	case !t.Revoked.IsZero():
		return "it was revoked"
	case !t.Until.After(now):
		return "it is over"
	case !s.Holds(t.Seal, TokenOf(t)):
		return "it is not signed with the operator key"
	}
	return ""
}
