package e2b

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// port is the daemon's.
const port = "49983"

// where is the address of a sandbox's daemon.
func (p *Provider) where(b box) (string, error) {
	domain, address := cmp.Or(b.Domain, p.domain), ""
	switch {
	case p.inside != "":
		return p.inside, nil // as the config has it
	case domain == "":
		return "", errors.New("where the sandboxes are is not known: set domain: or sandbox_url: in the entry")
	case slices.Contains(vendors, domain):
		address = "https://sandbox." + domain
	case strings.ContainsAny(b.ID, "/\\@?#:."):
		return "", fmt.Errorf("%w: %q is no part of a host's name", reconcile.ErrUnknownID, b.ID)
	default:
		address = "https://" + port + "-" + b.ID + "." + domain
	}
	return address, p.client.MayKnowToken(address)
}

// ask makes one call to the sandbox's daemon; the call's url is a path in there. It knows the
// daemon's token, and not the account's key. In the answer the token is blotted out, before
// anything is cut from it: a part of it could stay. Frames keep their lengths.
func (p *Provider) ask(ctx context.Context, b box, k wire.Call) (wire.Answer, error) {
	base, err := p.where(b)
	if err != nil {
		return wire.Answer{}, err
	}
	header := map[string]string{"E2b-Sandbox-Id": b.ID, "E2b-Sandbox-Port": port, "Connect-Protocol-Version": "1"}
	if b.Token != "" {
		header["X-Access-Token"] = b.Token
	}
	if oldEnvd(b.Envd) {
		header["Authorization"] = "Basic " + base64.StdEncoding.EncodeToString([]byte("user:"))
	}
	maps.Copy(header, k.Header)
	k.URL, k.Inside, k.Header, k.Method = base+k.URL, true, header, cmp.Or(k.Method, http.MethodPost)
	a, err := p.client.Once(ctx, k)
	if len(b.Token) >= 6 { // shorter ones stand in common words
		a.Body = bytes.ReplaceAll(a.Body, []byte(b.Token), bytes.Repeat([]byte("*"), len(b.Token)))
	}
	return a, err
}

// oldEnvd reports whether the daemon is older than 0.4, and must be told its user.
func oldEnvd(version string) bool {
	rest, zero := strings.CutPrefix(strings.TrimPrefix(version, "v"), "0.")
	number, _, _ := strings.Cut(rest, ".")
	minor, err := strconv.Atoi(number)
	return zero && err == nil && minor < 4
}

// stream is the content type of frames: a byte of flags, a length in four bytes, JSON.
const stream = "application/connect+json"

const (
	packed = 1 // flag of a frame that is compressed
	last   = 2 // flag of the frame that ends a stream
	head   = 5
)

// shell is what runs a command.
const shell = "/bin/bash"

// startBody asks for a command in the vendor's own way, so that the probe meets what clients
// meet.
func startBody(command string) []byte {
	text, _ := json.Marshal(map[string]any{"process": map[string]any{"cmd": shell,
		"args": []string{"-l", "-c", command}, "cwd": "/"}, "stdin": false}) // texts always encode
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(text))), text...) //nolint:gosec // it is short
}

// A told is what the frames of a stream tell together.
type told struct {
	Event struct {
		End *struct {
			ExitCode int    `json:"exitCode"` // left out when 0
			Exited   bool   `json:"exited"`   // left out when a signal ended it
			Status   string `json:"status"`
		} `json:"end"`
	} `json:"event"`
	Error *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// frames reads a stream to its end; whole reports whether it came to one.
func frames(body []byte) (t told, whole bool) {
	for len(body) >= head {
		flag, rest, length := body[0], body[head:], uint64(binary.BigEndian.Uint32(body[1:head]))
		if flag&packed != 0 || length > uint64(len(rest)) || json.Unmarshal(rest[:length], &t) != nil {
			return t, false
		}
		if flag&last != 0 {
			return t, true
		}
		body = rest[length:]
	}
	return t, false
}

// executed judges an answer to exec, whose status is 200 whatever became of the command.
func executed(a wire.Answer, _ wire.APIError) (wire.ProbePart, bool) {
	if a.Status != http.StatusOK {
		return wire.ProbePart{}, false
	}
	t, whole := frames(a.Body)
	switch end := t.Event.End; {
	case !strings.HasPrefix(a.Header.Get("Content-Type"), stream) || !whole:
		return wire.Unclear("200 with something that is no stream, or half of one"), true
	case t.Error != nil:
		return refused(t.Error.Code, t.Error.Message), true
	case end == nil:
		return wire.Unclear("the stream ended without the command's end"), true
	case !end.Exited:
		return wire.Ran(-1, end.Status), true
	default:
		return wire.Ran(end.ExitCode, end.Status), true
	}
}

// refused judges what the daemon says of a command that it did not run to its end. A template
// may have no shell, which is no fault of the sandbox; one that lost its file system is
// convicted by the listing of its files.
func refused(code, words string) wire.ProbePart {
	said := text.Clip(code+": "+words, 160)
	met, known := refusals[code]
	switch {
	case contains(words, shell) && contains(words, "no such file", "not found"):
		return wire.Unclear(said + "; where the template has no " + shell + `, set probe: {exec: ""}`)
	case known:
		return wire.ProbePart{Outcome: met, Words: said}
	case code == "invalid_argument": // what older daemons say when a process cannot be started
		return wire.Failed(said)
	}
	return wire.Unclear(said)
}
