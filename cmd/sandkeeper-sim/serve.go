package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// settings are the flags of a kind.
type settings struct {
	listen, control, key, label string
	templates                   []string
	sandboxes                   int
	labels                      map[string]string
	pace                        simulated.Options
}

// A greeting is the line that is printed when all listens.
type greeting struct {
	Kind    string `json:"kind"`
	URL     string `json:"url"` // for the provider's client
	Key     string `json:"key"`
	Control string `json:"control"`
}

// serve answers until the context ends.
func serve(ctx context.Context, k kind, s settings, out io.Writer) error {
	world := populate(k, s)
	provider, err := listen(ctx, s.listen)
	if err != nil {
		return err
	}
	defer provider.Close()
	controls, err := listen(ctx, s.control)
	if err != nil {
		return err
	}
	defer controls.Close()
	hello := greeting{Kind: k.name, URL: "http://" + provider.Addr().String() + k.base, Key: s.key,
		Control: "http://" + controls.Addr().String()}
	if err := json.NewEncoder(out).Encode(hello); err != nil {
		return fmt.Errorf("say where it listens: %w", err)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return answer(ctx, provider, k.speak(world, s)) })
	group.Go(func() error { return answer(ctx, controls, (&control{world: world}).routes()) })
	return group.Wait()
}

// populate makes the world that a test begins with.
func populate(k kind, s settings) *simulated.World {
	s.pace.IDs = k.ids
	world := simulated.New(s.pace)
	for _, name := range s.templates {
		world.PutTemplate(simulated.Template{Name: name, LastUsedAt: world.Now()})
	}
	for range s.sandboxes {
		world.Put(simulated.Sandbox{Labels: s.labels})
	}
	return world
}

func listen(ctx context.Context, address string) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen at %s: %w", address, err)
	}
	return l, nil
}

// answer serves until the context ends. A call that hangs on purpose is cut then.
func answer(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { server.Close() })()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve at %s: %w", l.Addr(), err)
	}
	return nil
}
