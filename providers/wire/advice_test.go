package wire

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
)

func TestAdvice(t *testing.T) {
	cases := map[string]struct {
		err  error
		want string
	}{
		"an expired certificate": {x509.CertificateInvalidError{Reason: x509.Expired}, "renew the certificate"},
		"a certificate for others": {
			x509.HostnameError{Certificate: &x509.Certificate{}, Host: "h"}, "is the host in url: right",
		},
		"an authority that nobody knows": {x509.UnknownAuthorityError{}, "SSL_CERT_FILE"},
		"a name that does not resolve":   {&net.DNSError{Err: "no such host", Name: "h"}, "does it resolve"},
		"nobody listens":                 {&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, "does the provider run there"},
		"another fault of a certificate": {x509.CertificateInvalidError{Reason: x509.TooManyIntermediates}, ""},
		"a cancel":                       {context.Canceled, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			err := fmt.Errorf("call: %w", c.err)
			got := advised(err)
			if !errors.Is(got, err) || !strings.HasPrefix(got.Error(), err.Error()) ||
				c.want == "" && got.Error() != err.Error() || !strings.Contains(got.Error(), c.want) {
				t.Errorf("advised(%v) = %v, want it to say %q", err, got, c.want)
			}
		})
	}
}

func TestAdviceForPlainHTTP(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.Replace(s.URL, "http:", "https:", 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := http.DefaultClient.Do(req); err == nil || advice(Cause(err)) == "" {
		t.Errorf("a call of https where http is spoken = %v, want advice", err)
	}
}
