package docker

import (
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

// An address is where an engine listens, in the ways in which it has to be written.
type address struct {
	socket string // path of the Unix socket; "" for TCP
	host   string // for the engine's client
	base   string // for calls of our own: http or https
	tls    *tls.Config
}

// parseAddress reads the url of an entry: unix:///path, tcp://host:port, or http and https
// for an engine behind a proxy. A folder of certificates makes tcp encrypted.
func parseAddress(e entry.Entry) (address, error) {
	if e.URL == "" {
		e.URL = DefaultURL
	}
	u, err := url.Parse(strings.TrimRight(e.URL, "/"))
	if err != nil || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return address{}, fmt.Errorf("url must look like %s or tcp://host:2376", DefaultURL)
	}
	certificates := e.Extra["certificates"]
	switch {
	case u.Scheme == "unix" && u.Host == "" && len(u.Path) > 1:
		return address{socket: u.Path, host: "unix://" + u.Path, base: "http://" + client.DummyHost}, nil
	case u.Host == "":
	case u.Scheme == "tcp", u.Scheme == "http" && certificates == "", u.Scheme == "https":
		return overTCP(u, certificates)
	}
	return address{}, fmt.Errorf("url %q must look like %s or tcp://host:2376", u.Redacted(), DefaultURL)
}

func overTCP(u *url.URL, certificates string) (address, error) {
	a := address{host: "tcp://" + u.Host + u.Path, base: "http://" + u.Host + u.Path}
	if u.Scheme == "https" {
		a.tls = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if certificates != "" {
		var err error
		if a.tls, err = readTLS(certificates); err != nil {
			return address{}, err
		}
	}
	if a.tls != nil {
		a.base = "https" + strings.TrimPrefix(a.base, "http")
	}
	return a, nil
}

// readTLS reads ca.pem, cert.pem and key.pem of a folder, as the engine's own tools name
// them. Our certificate is read anew for each connection, so that it can be replaced.
func readTLS(folder string) (*tls.Config, error) {
	pem, err := os.ReadFile(filepath.Join(folder, "ca.pem")) //nolint:gosec // the operator names the folder
	if err != nil {
		return nil, fmt.Errorf("read the engine's authority: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("read the engine's authority: %s holds no certificate", filepath.Join(folder, "ca.pem"))
	}
	ours := func() (*tls.Certificate, error) {
		c, err := tls.LoadX509KeyPair(filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem"))
		if err != nil {
			return nil, fmt.Errorf("read our certificate for the engine: %w", err)
		}
		return &c, nil
	}
	if _, err := ours(); err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots,
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return ours() }}, nil
}

// transport reaches the address. HTTP/2 is not for it: an exec takes its connection over.
func (a address) transport() *http.Transport {
	t := wire.Transport()
	t.ForceAttemptHTTP2, t.TLSClientConfig = false, a.tls
	t.Protocols = new(http.Protocols)
	t.Protocols.SetHTTP1(true)
	if a.socket != "" {
		dialer := net.Dialer{}
		t.Proxy = nil
		t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", a.socket)
		}
	}
	return t
}
