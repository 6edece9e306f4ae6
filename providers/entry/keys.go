package entry

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A Key is a key of an entry that a kind of provider reads: url, token, and those of its own.
type Key struct {
	Name, Doc  string // Doc says what it is, in a sentence, for editors
	Required   string // what to give, where it may not be left out
	Default    string
	Words      []string // what it may be; none: any text
	Secret     bool     // a credential: never shown, and also read from the file that NAME_file names
	Schemes    []string // of an address and no more; none: it is not one
	Like       string   // an address as it may be
	Credential string   // the key of the credential that goes to the address
	Aside      bool     // it changes nothing of what is seen or done by the entry's credential
}

// Keys are the keys that a kind reads, beside those of every entry.
type Keys []Key

// URL is the key of the address of an API; def is where it is unless an entry says so.
func URL(def string) Key { return Address("url", def, "https://host/path", "https", "http") }

// Token is the key of the credential for url; required says what it is, "" that it may lack.
func Token(required string) Key { return Key{Name: "token", Secret: true, Required: required} }

// Address is a key that is an address.
func Address(name, def, like string, schemes ...string) Key {
	return Key{Name: name, Default: def, Like: like, Schemes: schemes, Credential: strings.TrimSuffix(name, "url") +
		"token"}
}

// PushSecret is the key of what a provider signs its webhooks with.
func PushSecret() Key {
	return Key{Name: "push_secret", Secret: true, Aside: true,
		Doc: "What the provider signs the webhooks with that it sends to /push/NAME; none are taken when not given."}
}

// StreamKey is the key of whether the provider's own stream of events is listened to.
func StreamKey() Key {
	return Key{Name: "stream", Words: []string{"on", "off"}, Default: "off", Aside: true,
		Doc: "Whether the provider's own stream of events is listened to, to look at once at what ends."}
}

// Says is the key with a sentence on what it is.
func (k Key) Says(doc string) Key {
	k.Doc = doc
	return k
}

// A Mistake is what is wrong with an entry, or is likely not meant. It holds nothing of a value.
type Mistake struct {
	Key          string // "url", "api.list.items"
	Problem, Fix string
	Shown        bool // the problem reads on from the value
	Odd          bool // it works
}

// Find is the key of that name.
func (k Keys) Find(name string) (Key, bool) {
	if at := slices.IndexFunc(k, func(k Key) bool { return k.Name == name }); at >= 0 {
		return k[at], true
	}
	return Key{}, false
}

// Check is all that is wrong with the keys, each looked at alone.
func (k Keys) Check(e Entry) []Mistake {
	out := k.lacking(e)
	for _, key := range k {
		if given := e.value(key.Name); given != "" && len(key.Schemes) > 0 {
			out = append(out, key.address(given, e.value(key.Credential) != "")...)
		}
	}
	return out
}

// Refuse is the error of an entry that lacks a key, or has another word than those that are known.
// Addresses are for the client that calls them.
func (k Keys) Refuse(e Entry) error { return Refuse(k.lacking(e)) }

// Refuse is the error of mistakes; what is only odd is none.
func Refuse(found []Mistake) error {
	var all []error
	for _, m := range found {
		if !m.Odd {
			all = append(all, fmt.Errorf("%s: %s; %s", m.Key, m.Problem, m.Fix))
		}
	}
	return errors.Join(all...)
}

func (k Keys) lacking(e Entry) (out []Mistake) {
	for _, key := range k {
		switch given := e.value(key.Name); {
		case given == "" && key.Required == "":
		case given == "" && key.Secret:
			out = append(out, Mistake{Key: key.Name, Problem: "is empty; " + e.Kind + " needs a credential",
				Fix: "give " + key.Name + " or " + key.Name + "_file: " + key.Required})
		case given == "" && len(key.Schemes) > 0:
			out = append(out, Mistake{Key: key.Name, Problem: "kind " + e.Kind + " has no default address", Fix: key.Required})
		case given == "":
			out = append(out, Mistake{Key: key.Name, Problem: "is not given; " + e.Kind + " needs it", Fix: key.Required})
		case len(key.Words) == 2 && !slices.Contains(key.Words, given):
			out = append(out, Mistake{Key: key.Name, Shown: true, Problem: "is neither " + strings.Join(key.Words, " nor "),
				Fix: "write " + strings.Join(key.Words, " or ")})
		case len(key.Words) > 0 && !slices.Contains(key.Words, given):
			out = append(out, Mistake{Key: key.Name, Shown: true, Problem: "is not one of " + strings.Join(key.Words, ", "),
				Fix: "use one of them"})
		}
	}
	return out
}

// address is what is wrong with an address. It is never shown: people put credentials
// into it.
func (k Key) address(given string, secret bool) []Mistake {
	u, err := url.Parse(given)
	switch {
	case err != nil || !slices.Contains(k.Schemes, u.Scheme) || u.Opaque != "" || u.Host == "" && u.Path == "",
		u.Host == "" && strings.HasPrefix(u.Scheme, "http"):
		return []Mistake{{Key: k.Name, Problem: "is not an address of " + strings.Join(k.Schemes, " or "),
			Fix: "write it like " + k.Like}}
	case u.User != nil:
		return []Mistake{{Key: k.Name, Problem: "holds a credential", Fix: "put it into " + k.Credential}}
	case u.RawQuery != "":
		return []Mistake{{Key: k.Name, Problem: "holds more than an address",
			Fix: "leave out what begins with the question mark; a credential belongs into " + k.Credential}}
	case u.Scheme == "http" && secret && !text.Loopback(u.Hostname()):
		return []Mistake{{Key: k.Name, Problem: "the token goes over the network unencrypted", Fix: "use https", Odd: true}}
	}
	return nil
}

// value is what the entry gives for a key.
func (e Entry) value(name string) string {
	switch name {
	case "url":
		return e.URL
	case "token":
		return e.Token
	}
	return e.Extra[name]
}
