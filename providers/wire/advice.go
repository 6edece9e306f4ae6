package wire

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
)

// advised adds to an error of a connection what fixes its usual causes.
func advised(err error) error {
	if fix := advice(err); fix != "" {
		return fmt.Errorf("%w; %s", err, fix)
	}
	return err
}

func advice(err error) string {
	var invalid x509.CertificateInvalidError
	var name x509.HostnameError
	var unknown x509.UnknownAuthorityError
	var plain tls.RecordHeaderError
	var dns *net.DNSError
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "renew the certificate there, or set the clock here"
	case errors.As(err, &name):
		return "is the host in url: right, or does something else answer in its place?"
	case errors.As(err, &unknown):
		return "let this machine trust its authority: put the certificate into a file and name that in SSL_CERT_FILE"
	case errors.As(err, &plain), strings.Contains(err.Error(), "HTTP response to HTTPS client"):
		return "url: says https, and who answers there does not speak TLS: is the port right?"
	case errors.As(err, &dns):
		return "is the host in url: right, and does it resolve from here?"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "is url: right, and does the provider run there?"
	}
	return ""
}
