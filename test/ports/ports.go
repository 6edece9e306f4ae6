// Package ports finds free ports, for servers of tests that cannot say themselves which one they took.
package ports

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
)

// Where free ports are looked for: below those that systems give to connections, and to who listens on any port. One
// of those would often be somebody else's before its server has it, on a machine that is busy with other tests.
const first, many = 15_000, 15_000

// Free is a port of 127.0.0.1 that nobody has at the moment.
func Free(ctx context.Context) (port int, err error) {
	for range 100 {
		port = first + rand.N(many) //nolint:gosec // nobody guards a port by not being guessed
		var l net.Listener
		if l, err = new(net.ListenConfig).Listen(ctx, "tcp", address(port)); err == nil {
			return port, l.Close()
		}
	}
	return 0, fmt.Errorf("find a free port: %w", err)
}

// Address is that of a [Free] port.
func Address(ctx context.Context) (string, error) {
	port, err := Free(ctx)
	return address(port), err
}

func address(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
