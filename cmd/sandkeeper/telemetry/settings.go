package telemetry

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Signals are what can be sent.
var Signals = []string{"traces", "metrics", "logs"}

// Settings say what is sent and where to. What they leave open the environment says, by the variables that
// OpenTelemetry names.
type Settings struct {
	Endpoint     string   // base address; each signal has its path below it
	Headers      string   // "name=value,name=value", as OTEL_EXPORTER_OTLP_HEADERS
	Send         []string // of Signals; nil: all
	Installation string
	Version      string
	Getenv       func(string) (string, bool)
}

func (s *Settings) env(name string) string {
	if s.Getenv == nil {
		return os.Getenv(name)
	}
	value, _ := s.Getenv(name)
	return value
}

// of is a variable of one signal, else the one for all.
func (s *Settings) of(signal, name string) string {
	return cmp.Or(s.env("OTEL_EXPORTER_OTLP_"+strings.ToUpper(signal)+"_"+name), s.env("OTEL_EXPORTER_OTLP_"+name))
}

// targets are where each signal goes, by signal; none when nothing is to be sent.
func (s *Settings) targets() (map[string]*target, error) {
	if strings.EqualFold(s.env("OTEL_SDK_DISABLED"), "true") {
		return nil, nil
	}
	out := map[string]*target{}
	var errs []error
	for _, signal := range Signals {
		if !s.wanted(signal) {
			continue
		}
		t, err := s.target(signal)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		out[signal] = t
	}
	return out, errors.Join(errs...)
}

// wanted reports whether a signal is to be sent: somebody said where to.
func (s *Settings) wanted(signal string) bool {
	exporter := s.env("OTEL_" + strings.ToUpper(signal) + "_EXPORTER")
	if s.Send != nil && !slices.Contains(s.Send, signal) || exporter == "none" {
		return false
	}
	return s.Endpoint != "" || exporter != "" || s.of(signal, "ENDPOINT") != ""
}

func (s *Settings) target(signal string) (*target, error) {
	if e := s.env("OTEL_" + strings.ToUpper(signal) + "_EXPORTER"); e != "" && e != "otlp" {
		return nil, fmt.Errorf("send %s: there is no exporter %q here; use otlp or none", signal, e)
	}
	if p := s.of(signal, "PROTOCOL"); p != "" && p != "http/protobuf" {
		return nil, fmt.Errorf("send %s: the protocol %q is not spoken here; "+
			"set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf, mostly at port 4318", signal, p)
	}
	address, err := s.address(signal)
	if err != nil {
		return nil, err
	}
	headers, err := headersOf(cmp.Or(s.Headers, s.of(signal, "HEADERS")))
	if err != nil {
		return nil, fmt.Errorf("send %s: %w", signal, err)
	}
	transport, err := s.transport(signal)
	if err != nil {
		return nil, fmt.Errorf("send %s: %w", signal, err)
	}
	return &target{
		signal: signal, url: address, headers: headers, gzip: s.of(signal, "COMPRESSION") == "gzip",
		timeout: millis(s.of(signal, "TIMEOUT"), 10*time.Second),
		client: &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // where else credentials go is not for an answer to say
		}},
	}, nil
}

// address is the signal's own, else its path below the one for all. No error quotes it: it may hold a credential.
func (s *Settings) address(signal string) (string, error) {
	own := s.env("OTEL_EXPORTER_OTLP_" + strings.ToUpper(signal) + "_ENDPOINT")
	base := cmp.Or(s.Endpoint, s.env("OTEL_EXPORTER_OTLP_ENDPOINT"), "http://localhost:4318")
	if s.Endpoint != "" || own == "" {
		own = strings.TrimSuffix(base, "/") + "/v1/" + signal
	}
	u, err := url.Parse(own)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("send %s: its endpoint is no address of http or https; write it like http://host:4318", signal)
	}
	return own, nil
}

func headersOf(list string) (http.Header, error) {
	out := http.Header{}
	for pair := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, found := strings.Cut(pair, "=")
		plain, err := url.PathUnescape(strings.TrimSpace(value))
		if !found || err != nil || strings.TrimSpace(name) == "" {
			return nil, errors.New("its headers are not like name=value,name=value")
		}
		out.Set(strings.TrimSpace(name), plain)
	}
	return out, nil
}

func (s *Settings) transport(signal string) (*http.Transport, error) {
	out := &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 1, IdleConnTimeout: 90 * time.Second,
		ForceAttemptHTTP2: true, MaxResponseHeaderBytes: 64 << 10, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}}
	if name := s.of(signal, "CERTIFICATE"); name != "" {
		pem, err := os.ReadFile(name) //nolint:gosec // the operator names the file
		if err != nil {
			return nil, fmt.Errorf("read its certificate: %w", err)
		}
		out.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !out.TLSClientConfig.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("read its certificate: %s holds none", name)
		}
	}
	cert, key := s.of(signal, "CLIENT_CERTIFICATE"), s.of(signal, "CLIENT_KEY")
	if cert == "" && key == "" {
		return out, nil
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("read its client certificate: %w", err)
	}
	out.TLSClientConfig.Certificates = []tls.Certificate{pair}
	return out, nil
}

// millis reads a number of milliseconds.
func millis(text string, otherwise time.Duration) time.Duration {
	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 {
		return otherwise
	}
	return time.Duration(n) * time.Millisecond
}
