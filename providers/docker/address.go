package docker

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/moby/moby/client"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/wire"
)

// A way is how an engine is reached.
type way struct {
	host      string // for the engine's client
	base      string // for calls of our own: http or https
	transport *http.Transport
}

// wayTo reads the url of an entry: unix:///path, tcp://host:port, or http and https for an
// engine behind a proxy. A folder of certificates makes tcp encrypted.
func wayTo(e entry.Entry) (way, error) {
	t := wire.Transport()
	t.ForceAttemptHTTP2 = false // engines speak HTTP/1
	certificates := e.Extra["certificates"]
	u, err := url.Parse(strings.TrimRight(cmp.Or(e.URL, DefaultURL), "/"))
	switch {
	case err != nil, u.User != nil, u.RawQuery != "", u.Fragment != "":
	case u.Scheme == "unix" && u.Host == "" && len(u.Path) > 1:
		dialer := net.Dialer{}
		t.Proxy = nil
		t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", u.Path)
		}
		return way{"unix://" + u.Path, "http://" + client.DummyHost, t}, nil
	case u.Host == "":
	case u.Scheme == "tcp", u.Scheme == "http" && certificates == "", u.Scheme == "https":
		out := way{"tcp://" + u.Host + u.Path, "http://" + u.Host + u.Path, t}
		if u.Scheme == "https" || certificates != "" {
			out.base = "https://" + u.Host + u.Path
			t.TLSClientConfig, err = readTLS(certificates)
		}
		return out, err
	}
	return way{}, fmt.Errorf("url must look like %s or tcp://host:2376", DefaultURL)
}

// readTLS reads ca.pem, cert.pem and key.pem of a folder, as the engine's own tools name
// them. Our certificate is read again for each connection, so that it can be replaced.
// Without a folder the machine's own authorities count.
func readTLS(folder string) (*tls.Config, error) {
	if folder == "" {
		return &tls.Config{MinVersion: tls.VersionTLS12}, nil
	}
	authority := filepath.Join(folder, "ca.pem")
	pem, err := os.ReadFile(authority) //nolint:gosec // the operator names the folder
	if err != nil {
		return nil, fmt.Errorf("read the engine's authority: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("read the engine's authority: %s holds no certificate", authority)
	}
	ours := func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		c, err := tls.LoadX509KeyPair(filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem"))
		if err != nil {
			return nil, fmt.Errorf("read our certificate for the engine: %w", err)
		}
		return &c, nil
	}
	_, err = ours(nil)
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, GetClientCertificate: ours}, err
}
