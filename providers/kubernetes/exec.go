package kubernetes

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/sandkeeper/sandkeeper/providers/wire"
)

// A ran is what became of a command.
type ran struct {
	exit     int
	output   string // the beginning of what it printed, errors last
	err      error  // there is no exit code; nil when there is one
	entered  bool   // the connection into the container was made
	unspoken bool   // our own time for it was over
}

// mostOutput is how much of a command's output is kept.
const mostOutput = 8 << 10

// exec runs a command in the container, and gives it up after the limit. The process inside
// is not ended by that: a command bounds itself.
func (p *Provider) exec(ctx context.Context, t target, limit time.Duration, command ...string) ran {
	// client-go tells a global logger about every connection that ends in its middle.
	turn, err := p.client.Ahead(klog.NewContext(ctx, klog.Logger{}))
	if err != nil {
		return ran{err: err}
	}
	within, cancel := context.WithTimeout(turn, limit)
	defer cancel()
	within, seen := wire.Watch(within)
	out, errs := &clipped{}, &clipped{}
	err = p.converse(within, t, command, out, errs)
	r := ran{output: out.String() + errs.String(), err: err,
		entered:  seen.Last().Status == http.StatusSwitchingProtocols,
		unspoken: ctx.Err() == nil && errors.Is(within.Err(), context.DeadlineExceeded)}
	var code exitCode
	if errors.As(err, &code) {
		r.exit, r.err = int(code), nil
	}
	return r
}

// speaksOtherwise reports whether another protocol may work where websockets did not. What
// the cluster said of the Pod, the limit or itself would only be said again. A 403 may be a
// role that lacks get on pods/exec, which only websockets need.
func speaksOtherwise(err error) bool {
	if !httpstream.IsUpgradeFailure(err) {
		return httpstream.IsHTTPSProxyError(err)
	}
	var said apierrors.APIStatus
	if !errors.As(err, &said) {
		return true
	}
	code := said.Status().Code
	return code == http.StatusForbidden || code == http.StatusBadRequest || code == http.StatusMethodNotAllowed
}

// clipped keeps the beginning of what is written and takes the rest as well: who writes
// would wait for ever otherwise. It is still written to after client-go has given up.
type clipped struct {
	mu   sync.Mutex
	kept bytes.Buffer
}

func (c *clipped) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if room := mostOutput - c.kept.Len(); room > 0 {
		_, _ = c.kept.Write(b[:min(room, len(b))]) // a buffer takes everything
	}
	return len(b), nil
}

func (c *clipped) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kept.String()
}
