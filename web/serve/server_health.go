package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
)

// Health serves what tells whether the process lives and is ready, and nothing else, to anybody and
// without TLS, until ctx ends: for probes that have no certificate of the page's clients. pages is the
// handler of [New]. It closes the listener in every case.
func Health(ctx context.Context, l net.Listener, pages http.Handler, log *slog.Logger) error {
	defer l.Close()
	known := map[string]http.Handler{}
	for _, r := range routes(newSite(Options{})) { // the rows alone matter
		if r.kind == kindHealth {
			known[r.path] = pages
		}
	}
	server := &http.Server{
		Handler:           guarded(newInflightLimit(atOnce, paths(known, http.NotFoundHandler()))),
		ReadHeaderTimeout: headersWithin, ReadTimeout: readWithin, WriteTimeout: writeWithin, IdleTimeout: idleFor,
		MaxHeaderBytes: headerBytes, DisableGeneralOptionsHandler: true,
		ErrorLog: slog.NewLogLogger(discreet{log.Handler()}, slog.LevelDebug),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve the health checks on %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	return errors.Join(shut(context.WithoutCancel(ctx), server), stopped(<-ended))
}
