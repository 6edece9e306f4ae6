package docker

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// The use of a processor is of what the container may use, between the two samples.
func TestUsage(t *testing.T) {
	const read = `"read":"2026-01-01T00:00:01Z"`
	stats := func(used, online string) string {
		return `{` + read + `,"precpu_stats":{"cpu_usage":{"total_usage":100},"system_cpu_usage":1000},
			"cpu_stats":{"cpu_usage":{"total_usage":` + used + `},"system_cpu_usage":2000,"online_cpus":` + online + `},
			"memory_stats":{"usage":900,"limit":1000,"stats":{"inactive_file":100}}}`
	}
	for name, test := range map[string]struct {
		stats, host  string
		cpu          float64
		used, total  int64
		unmeasurable bool
	}{
		"a quarter of all":             {stats("350", "4"), `{}`, 25, 800, 1000, false},
		"one of four, and it may more": {stats("350", "4"), `{"NanoCpus":8000000000}`, 25, 800, 1000, false},
		"all of one that it may":       {stats("350", "4"), `{"NanoCpus":1000000000}`, 100, 800, 1000, false},
		"all of a quota":               {stats("225", "4"), `{"CpuQuota":50000}`, 100, 800, 1000, false},
		"half of a quota and a period": {stats("225", "4"), `{"CpuQuota":500000,"CpuPeriod":500000}`, 50, 800, 1000, false},
		"a host that says nothing":     {stats("350", "4"), `null`, 25, 800, 1000, false},
		"one sample": {`{` + read + `,"cpu_stats":{"cpu_usage":{"total_usage":9},"system_cpu_usage":9,"online_cpus":1},
			"memory_stats":{"usage":5,"limit":9}}`, `{}`, math.NaN(), 5, 9, false},
		"a count that began anew": {stats("50", "4"), `{}`, math.NaN(), 800, 1000, false},
		"no processors":           {stats("350", "0"), `{}`, math.NaN(), 800, 1000, false},
		"the old cgroups": {`{` + read + `,"memory_stats":{"usage":900,"limit":18446744073709551615,
			"stats":{"inactive_file":1,"total_inactive_file":300}}}`, `{}`, math.NaN(), 600, math.MaxInt64, false},
		"more cache than use": {`{` + read + `,"memory_stats":{"usage":5,"limit":9,"stats":{"inactive_file":6}}}`, `{}`, math.NaN(),
			0, 9, false},
		"one that ended": {`{"read":"0001-01-01T00:00:00Z"}`, `{}`, 0, 0, 0, true},
		"no measurement": {`{}`, `{}`, 0, 0, 0, true},
		"a page":         {`<html>`, `{}`, 0, 0, 0, true},
	} {
		p := engineOf(t, map[string]reply{"GET " + id1 + "/stats": {200, js, test.stats},
			"GET " + id1 + "/json": {200, js, `{"Id":"` + id1 + `","HostConfig":` + test.host + `}`}})
		got, err := p.Usage(t.Context(), sandbox)
		same := got.CPUPercent == test.cpu || math.IsNaN(got.CPUPercent) && math.IsNaN(test.cpu)
		if (err != nil) != test.unmeasurable || !same || got.MemoryUsed != test.used || got.MemoryTotal != test.total {
			t.Errorf("%s: %+v, %v; want %g%%, %d of %d", name, got, err, test.cpu, test.used, test.total)
		}
	}
}

func TestLogs(t *testing.T) {
	for name, test := range map[string]struct {
		tty, body, want string
		fails           bool
	}{
		"both streams":  {"false", framed(1, "one\n") + framed(2, "two\n"), "one\ntwo\n", false},
		"a terminal":    {"true", "one\r\ntwo\r\n", "one\r\ntwo\r\n", false},
		"its end":       {"false", framed(1, strings.Repeat("x", 100)+"end"), strings.Repeat("x", 17) + "end", false},
		"cut off":       {"false", framed(1, "one\n")[:9], "", true},
		"none":          {"false", "", "", false},
		"odd terminals": {"true", "\xff\xfe", "", false},
	} {
		p := engineOf(t, map[string]reply{"GET " + id1 + "/logs": {200, raw, test.body},
			"GET " + id1 + "/json": {200, js, `{"Id":"` + id1 + `","Config":{"Tty":` + test.tty + `}}`}})
		if got, err := p.Logs(t.Context(), sandbox, 20); got != test.want || (err != nil) != test.fails {
			t.Errorf("%s: Logs = %q, %v; want %q", name, got, err, test.want)
		}
	}
	p := engineOf(t, map[string]reply{"GET " + id1 + "/json": {200, js, inspected(`{}`)},
		"GET " + id1 + "/logs": {501, js, `{"message":"configured logging driver does not support reading"}`}})
	if _, err := p.Logs(t.Context(), sandbox, 20); err == nil || !strings.Contains(err.Error(), "logging driver") {
		t.Errorf("Logs that cannot be read = %v, want why", err)
	}
}

func TestTemplates(t *testing.T) {
	for name, test := range map[string]struct {
		image  string
		answer reply
		want   reconcile.TemplateState
		fails  bool
	}{
		"there":         {"bb:2", reply{200, js, `{"Id":"sha256:1"}`}, reconcile.TemplateActive, false},
		"of a registry": {"registry.test:5000/a/bb:2", reply{200, js, `{"Id":"sha256:1"}`}, reconcile.TemplateActive, false},
		"not there":     {"bb:2", reply{404, js, `{"message":"no such image: bb:2: No such image: bb:2"}`}, reconcile.TemplateMissing, false},
		"podman's":      {"bb:2", reply{404, js, `{"message":"failed to find image bb:2: docker.io/library/bb:2: No such image"}`}, reconcile.TemplateMissing, false},
		"no page":       {"bb:2", reply{404, js, `{"message":"page not found"}`}, "", true},
		"an error":      {"bb:2", reply{500, js, `{"message":"no"}`}, "", true},
		"no image":      {"bb:2", reply{200, js, `{}`}, "", true},
		"another path":  {"../containers/x", reply{}, "", true},
		"no name":       {"", reply{}, "", true},
	} {
		p := engineOf(t, map[string]reply{"GET /images/" + test.image + "/json": test.answer})
		got, err := p.Template(t.Context(), test.image)
		if got.State != test.want || (err != nil) != test.fails || err == nil && got.Name != test.image {
			t.Errorf("%s: Template = %+v, %v; want %q", name, got, err, test.want)
		}
	}
	if err := engineOf(t, nil).Activate(context.Background(), "bb:2"); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Activate = %v, want it unsupported", err)
	}
}

// The lines of check tell which engine it is.
func TestCheck(t *testing.T) {
	for body, want := range map[string]string{
		`{"Version":"20.10.24","ApiVersion":"1.41","Components":[{"Name":"Engine"}]}`:     "Docker 20.10.24, API 1.41, spoken as 1.41",
		`{"Version":"4.3.1","ApiVersion":"1.41","Components":[{"Name":"Podman Engine"}]}`: "Podman 4.3.1, API 1.41, spoken as 1.41",
		`{}`: "",
	} {
		p := engineOf(t, map[string]reply{"GET /version": {200, js, body}, "GET /containers/json": {200, js, `[]`}})
		lines := p.Check(t.Context())
		if want == "" && (len(lines) != 1 || lines[0].OK || lines[0].Fix == "") {
			t.Errorf("Check without a version = %+v, want a fix", lines)
		}
		if want != "" && (len(lines) != 2 || lines[0].Said != want || !lines[0].OK || !lines[1].OK) {
			t.Errorf("Check = %+v, want %s", lines, want)
		}
	}
}
