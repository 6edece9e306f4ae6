package check

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
)

// Ask is what our own listener answers. Its certificate names the page's host, not this machine: it is not looked
// at, as nothing is told to it.
func Ask(ctx context.Context, listen string, secure bool, path string) (string, error) {
	scheme := "http"
	if secure {
		scheme = "https"
	}
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // see above
	}}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+near(listen)+path, nil)
	if err != nil {
		return "", fmt.Errorf("ask %s%s: %w", listen, path, err)
	}
	answer, err := client.Do(r)
	if err != nil {
		return "", fmt.Errorf("ask for %s: %w; it is served by run and serve, at web.listen", path, err)
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(io.LimitReader(answer.Body, 4096))
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %s: %s", path, answer.Status, said)
	}
	return string(said), err
}

// near is where a listener is reached from its own machine.
func near(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil { // unreachable: the config was checked
		return listen
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}
