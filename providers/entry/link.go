package entry

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"strings"
)

// Link is how a sandbox and a task know each other.
type Link struct {
	TaskLabel string // label that holds the task's id; "" when there is none
	// TenantLabel is the label that says whose the sandbox is; "" when there is none.
	TenantLabel string
	Sandbox     string // what tasks.sandbox holds: id, name or label:KEY; "" when the provider never heard of it
	Key         string // signs what TaskLabel holds; "": it is the id alone
}

// linkMark is what is signed before a task's id, so that the key's signatures are good for nothing else.
const linkMark = "sandkeeper-link\x00"

// macBytes is how much of the signature is kept: with an id of 36 characters it fills the 63 that a label may have at
// Kubernetes.
const macBytes = 16

var base32Plain = base32.StdEncoding.WithPadding(base32.NoPadding)

// Value is what the label of a sandbox of the task holds: its id, and where links are signed a dot and the signature:
// the first 16 bytes of HMAC-SHA256 in lower-case base32.
func (l Link) Value(task string) string {
	if l.Key == "" {
		return task
	}
	mac := hmac.New(sha256.New, []byte(l.Key))
	mac.Write([]byte(linkMark + task)) // never fails
	return task + "." + strings.ToLower(base32Plain.EncodeToString(mac.Sum(nil)[:macBytes]))
}

// task is the id in a label. What is not signed as it has to be names nobody.
func (l Link) task(said string) (id, unsigned string) {
	if l.Key == "" || said == "" {
		return said, ""
	}
	dot := strings.LastIndexByte(said, '.')
	if dot <= 0 || !hmac.Equal([]byte(said), []byte(l.Value(said[:dot]))) {
		return "", said
	}
	return said[:dot], ""
}
