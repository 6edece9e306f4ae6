package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// A gatehouse speaks TLS before the provider, well or badly.
type gatehouse struct {
	net.Listener
	mu    sync.Mutex
	cert  *tls.Certificate // nil: it does not speak TLS at all
	conns []net.Conn
}

// Accept takes a connection and speaks on it as it does at the moment.
func (g *gatehouse) Accept() (net.Conn, error) {
	c, err := g.Listener.Accept()
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.conns = append(g.conns, c)
	if g.cert == nil {
		return c, nil
	}
	return tls.Server(c, &tls.Config{Certificates: []tls.Certificate{*g.cert}}), nil
}

// become speaks differently from now on, also to those who were there.
func (g *gatehouse) become(cert *tls.Certificate) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cert = cert
	for _, c := range g.conns {
		c.Close()
	}
	g.conns = nil
}

// An authority issues certificates.
type authority struct {
	s    *siege
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

func (s *siege) authority() *authority {
	s.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(s, err)
	a := &authority{s: s, key: key, cert: &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority of a test"}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign, NotAfter: time.Now().Add(time.Hour),
	}}
	der, err := x509.CreateCertificate(rand.Reader, a.cert, a.cert, &key.PublicKey, key)
	must(s, err)
	file := filepath.Join(s.TempDir(), "authority.pem")
	must(s, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	s.env = append(s.env, "SSL_CERT_FILE="+file)
	return a
}

// issue makes a certificate for an address, good until a moment.
func (a *authority) issue(address string, until time.Time) *tls.Certificate {
	a.s.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(a.s, err)
	want := &x509.Certificate{SerialNumber: big.NewInt(2), NotBefore: until.Add(-48 * time.Hour), NotAfter: until,
		IPAddresses: []net.IP{net.ParseIP(address)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	der, err := x509.CreateCertificate(rand.Reader, want, a.cert, &key.PublicKey, a.key)
	must(a.s, err)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// providerByTLS puts a gatehouse with a good certificate before the provider.
func providerByTLS(s *siege) {
	s.Helper()
	l, err := new(net.ListenConfig).Listen(s.Context(), "tcp", "127.0.0.1:0")
	must(s, err)
	s.trusted = s.authority()
	s.gate = &gatehouse{Listener: l, cert: s.trusted.issue("127.0.0.1", time.Now().Add(time.Hour))}
	pass := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		u, _ := url.Parse(s.direct) // an address of a listener
		r.SetURL(u)
	}}
	server := &http.Server{Handler: pass, ReadHeaderTimeout: time.Second}
	go func() { _ = server.Serve(s.gate) }() // ends with its listener
	s.Cleanup(func() { server.Close() })
}

// certified is a gatehouse with another certificate.
func certified(cert func(*siege) *tls.Certificate) func(*siege) func() {
	return func(s *siege) func() {
		good := s.gate.cert
		s.gate.become(cert(s))
		return func() { s.gate.become(good) }
	}
}

func tlsFaults() map[string]fault {
	return map[string]fault{
		"expired": {stage: providerByTLS, page: noPage, log: noList + ".*expired.*renew the certificate", strike: certified(func(s *siege) *tls.Certificate {
			return s.trusted.issue("127.0.0.1", time.Now().Add(-time.Hour))
		})},
		"another name": {stage: providerByTLS, page: noPage, log: noList + ".*valid for 127.0.0.2.*is the host in url", strike: certified(func(s *siege) *tls.Certificate {
			return s.trusted.issue("127.0.0.2", time.Now().Add(time.Hour))
		})},
		"unknown authority": {stage: providerByTLS, page: noPage, log: noList + ".*unknown authority.*SSL_CERT_FILE", strike: certified(func(s *siege) *tls.Certificate {
			return (&siege{auditor: s.auditor}).authority().issue("127.0.0.1", time.Now().Add(time.Hour))
		})},
		"plain HTTP on the port of TLS": {stage: providerByTLS, page: noPage, log: noList + ".*HTTP response to HTTPS client.*is the port right",
			strike: certified(func(*siege) *tls.Certificate { return nil })},
	}
}
