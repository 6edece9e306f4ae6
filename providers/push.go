package providers

import (
	"net/http"

	"github.com/sandkeeper/sandkeeper/providers/daytona"
	"github.com/sandkeeper/sandkeeper/providers/e2b"
	"github.com/sandkeeper/sandkeeper/providers/wire"
)

// A Push is what a provider sent by itself: a reason to look, and no fact.
type Push = wire.Push

// What is wrong with a push.
var (
	ErrForged     = wire.ErrForged
	ErrUnreadable = wire.ErrUnreadable
)

// pushes read what providers send, by kind. Those of which no scheme is known, or which send nothing of sandboxes, have
// none.
var pushes = map[string]func(secret string, header http.Header, body []byte) (Push, error){
	"daytona": daytona.ReadPush, "e2b": e2b.ReadPush,
}

// TakesPushes reports whether the entry says by which secret the provider signs what it sends.
func TakesPushes(e Entry) bool { return pushes[e.Kind] != nil && e.Extra["push_secret"] != "" }

// ReadPush reads what came for an entry that takes pushes. It is [ErrForged] unless the signature is the provider's.
func ReadPush(e Entry, header http.Header, body []byte) (Push, error) {
	if !TakesPushes(e) {
		return Push{}, ErrForged
	}
	return pushes[e.Kind](e.Extra["push_secret"], header, body)
}
