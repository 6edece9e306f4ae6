package wire

import (
	"errors"
	"time"
)

// A Push is what a provider sent by itself, after its signature was found right. Nothing of it is a fact: it is a
// reason to look at a sandbox.
type Push struct {
	ID      string    // of the message, the same when it is sent once more
	At      time.Time // when it was signed, or made where the signature holds no time: the sender's clock
	Sandbox string    // that may have ended; "" when it tells of something else
}

var (
	// ErrForged is a push whose signature is not that of the entry's secret.
	ErrForged = errors.New("its signature does not fit push_secret")
	// ErrUnreadable is one that is signed, and says nothing that is known.
	ErrUnreadable = errors.New("it is no message that is known")
)

// PushText is the most that an id in a push may have.
const PushText = 200

// Known refuses a push without an id or a time, and one whose ids are no ids.
func (p Push) Known() (Push, error) {
	if p.ID == "" || p.At.IsZero() || len(p.ID) > PushText || len(p.Sandbox) > PushText {
		return Push{}, ErrUnreadable
	}
	return p, nil
}
