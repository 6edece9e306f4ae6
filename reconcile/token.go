package reconcile

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
)

// A Token lets a program in, in the name of a user. The ledger keeps a hash of its secret: who made it saw it once.
type Token struct {
	ID      string
	User    string // in whose name it reads and acts
	Scope   TokenScope
	Hash    string // of the secret, SHA-256 in hex
	Author  string // who made it
	Reason  string
	At      time.Time // ledger's clock, like all here
	Until   time.Time // never zero: a token has an end
	Seal    string    // by the operator key, where there is one
	Revoked time.Time // zero while it counts
}

// A TokenScope is what a token is good for.
type TokenScope string

// The scopes of tokens.
const (
	TokenReads TokenScope = "read"
	TokenActs  TokenScope = "act" // reads as well
)

// TokenMost is for how long a token lasts at most.
const TokenMost = 366 * 24 * time.Hour

// tokenMark begins each secret, so that those who search for lost ones find it.
const tokenMark = "sandkeeper_"

// NewSecret makes the secret of a token, its id and its hash.
func NewSecret() (secret, id, hash string) {
	id = strings.ToLower(rand.Text()[:10])
	secret = tokenMark + id + "_" + rand.Text()
	return secret, id, SecretHash(secret)
}

// SecretHash is what is kept of a secret. It has 130 bits of chance, so that no salt and no slow hash is needed.
func SecretHash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// SecretID is the id of the token that a secret is said to be of; "" for what is none.
func SecretID(secret string) string {
	rest, is := strings.CutPrefix(secret, tokenMark)
	id, _, whole := strings.Cut(rest, "_")
	if !is || !whole || len(secret) > 100 {
		return ""
	}
	return id
}
