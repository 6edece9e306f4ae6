package config

import (
	"fmt"
	"net/url"
	"slices"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// TelemetryConfig says what is sent to an OpenTelemetry collector, and where it is. What it leaves open the usual
// variables OTEL_* say; without either nothing is sent.
type TelemetryConfig struct {
	// Address of the collector, for OTLP over HTTP; that of OTEL_EXPORTER_OTLP_ENDPOINT when not given.
	Endpoint Secret `yaml:"endpoint"`
	// Headers of each request, as name=value,name=value.
	Headers Secret `yaml:"headers"`
	// File that holds the headers, instead of headers.
	HeadersFile string `yaml:"headers_file"`
	// What is sent: traces, metrics, logs; all when not given.
	Send []string `yaml:"send"`
}

// telemetrySignals are what can be sent.
var telemetrySignals = []string{"logs", "metrics", "traces"}

// checkTelemetry never shows the address: people put credentials into it.
func (c *Config) checkTelemetry(r *report) {
	t := c.Telemetry
	for i, signal := range t.Send {
		if !slices.Contains(telemetrySignals, signal) {
			problem, fix := unknownWord("signal", signal, telemetrySignals)
			r.fail(fmt.Sprintf("telemetry.send[%d]", i), problem, fix)
		}
	}
	if t.Endpoint.Empty() {
		return
	}
	u, err := url.Parse(t.Endpoint.Reveal())
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		r.fail("telemetry.endpoint", "is not an address of https or http", "write it like http://collector:4318")
	case u.User != nil:
		r.fail("telemetry.endpoint", "holds a credential", "move it to telemetry.headers, as Authorization=Basic ...")
	case u.Scheme == "http" && !text.Loopback(u.Hostname()) && !t.Headers.Empty():
		r.warn("telemetry.endpoint", "its headers go over the network unencrypted", "use https")
	}
}

// Same reports whether two say the same.
func (t *TelemetryConfig) Same(other *TelemetryConfig) bool {
	return t.Endpoint.Reveal() == other.Endpoint.Reveal() && t.Headers.Reveal() == other.Headers.Reveal() &&
		slices.Equal(t.Send, other.Send)
}
