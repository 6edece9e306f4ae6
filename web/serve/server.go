package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	toolkit "github.com/prometheus/exporter-toolkit/web"
)

const (
	headersWithin = 5 * time.Second
	readWithin    = 10 * time.Second
	writeWithin   = 30 * time.Second // metrics are written while they are made
	idleFor       = 2 * time.Minute
	headerBytes   = 16 << 10
	bodyBytes     = 16 << 10
	atOnce        = 64              // requests under way; the health checks come on top
	closeWithin   = 5 * time.Second // open requests get this long at the end
)

// A Server serves the page on a listener, with the TLS and the users of a config file.
type Server struct {
	Listener   net.Listener
	Handler    http.Handler   // of [New]
	Hosts      []string       // names under which it is asked for, besides localhost, this machine's own and addresses
	ConfigFile string         // in the exporter-toolkit's format; "": no TLS and no users
	Operators  []string       // users who may change something
	Proxies    []netip.Prefix // whose word on who asks is believed
	Tokens     Tokens         // nil: no token counts
	Log        *slog.Logger   // nil: nobody hears
	Refused    *Refusals      // nil: nobody counts
}

// Serve serves until ctx ends. Then it takes no new connection and gives the open requests
// five seconds; that is no error. It closes the listener in every case. It refuses what
// [CheckListen] refuses.
func (s *Server) Serve(ctx context.Context) error {
	defer s.Listener.Close()
	s = s.complete()
	address := s.Listener.Addr().String()
	if err := CheckListen(address, s.ConfigFile); err != nil {
		return err
	}
	server := s.server(address)
	if Open(address, s.ConfigFile) {
		s.Log.WarnContext(ctx, "passwords and the page go over the network as they are: "+
			"add tls_server_config to web.config_file, or put a proxy with TLS before it", "address", address)
	}
	ended := make(chan error, 1)
	go func() {
		systemd := false
		ended <- toolkit.Serve(s.Listener, server, &toolkit.FlagConfig{
			WebSystemdSocket: &systemd, WebConfigFile: &s.ConfigFile,
		}, slog.New(warnings{discreet{s.Log.Handler()}}))
	}()
	select {
	case err := <-ended:
		return fmt.Errorf("serve the page on %s: %w", address, err)
	case <-ctx.Done():
	}
	return errors.Join(shut(context.WithoutCancel(ctx), server), stopped(<-ended))
}

func (s *Server) complete() *Server {
	out := *s
	if out.Log == nil {
		out.Log = slog.New(slog.DiscardHandler)
	}
	if out.Refused == nil {
		out.Refused = &Refusals{}
	}
	return &out
}

// warnings keeps the toolkit from telling at each start what the program says itself.
type warnings struct{ slog.Handler }

// Enabled lets through what somebody has to know.
func (w warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.Handler.Enabled(ctx, level)
}

// discreet leaves out what is quoted of the file of users, which the toolkit reads again for
// each connection.
type discreet struct{ slog.Handler }

// Handle passes an entry on without what it quotes.
func (d discreet) Handle(ctx context.Context, r slog.Record) error {
	out := slog.NewRecord(r.Time, r.Level, unquoted(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		out.AddAttrs(slog.String(a.Key, unquoted(a.Value.String())))
		return true
	})
	return d.Handler.Handle(ctx, out)
}

// shut ends a server: gently, and after a while by force.
func shut(ctx context.Context, server *http.Server) error {
	ctx, cancel := context.WithTimeout(ctx, closeWithin)
	defer cancel()
	err := server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close() // somebody reads very slowly
	}
	if err != nil {
		return fmt.Errorf("close the page: %w", err)
	}
	return nil
}

// stopped is nil for the error that a server ends with when it was told to.
func stopped(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

func (s *Server) server(address string) *http.Server {
	server := &http.Server{
		Handler:           s.Handler,
		ReadHeaderTimeout: headersWithin,
		ReadTimeout:       readWithin,
		WriteTimeout:      writeWithin,
		IdleTimeout:       idleFor,
		MaxHeaderBytes:    headerBytes,
		// What the server would answer by itself has none of our headers.
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(discreet{s.Log.Handler()}, slog.LevelDebug), // strangers at the port
	}
	// The toolkit asks for users in a handler that it puts around the whole server when it
	// begins to serve. This is called after that and before the first connection.
	over := make(chan struct{})
	server.BaseContext = func(net.Listener) context.Context {
		gate := &authGate{address: address, configFile: s.ConfigFile, operators: s.Operators,
			behind: server.Handler, inside: s.Handler, tokens: s.Tokens, proxies: s.Proxies,
			sessions: newSessions(), log: s.Log}
		server.Handler = guarded(newKnownHost(s.Hosts, s.Refused, s.open(gate)))
		return context.WithValue(context.Background(), endingKey{}, (<-chan struct{})(over))
	}
	server.RegisterOnShutdown(sync.OnceFunc(func() { close(over) }))
	return server
}

// open lets what anybody may ask pass by the auth gate, and by the limit of requests
// under way.
func (s *Server) open(gate http.Handler) http.Handler {
	known := map[string]http.Handler{}
	for _, r := range routes(newSite(Options{})) { // the rows alone matter
		if r.role == roleNone {
			known[r.path] = s.Handler
		}
	}
	limited := newGuesses(s.Log, s.Refused, newInflightLimit(atOnce, gate))
	if g, is := gate.(*authGate); is {
		g.refuse = func(r *http.Request) { limited.refuse(r, limited.mark("")) }
	}
	return paths(known, limited)
}
