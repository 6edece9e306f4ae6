package deploy

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
)

// A list of problems, each said in a sentence.
type problems []string

func (p *problems) unless(ok bool, format string, args ...any) {
	if !ok {
		*p = append(*p, fmt.Sprintf(format, args...))
	}
}

// problems are the reasons not to apply a shape.
func (s shape) problems() []string {
	var p problems
	for _, w := range s.workloads() {
		p = append(p, s.podProblems(w)...)
	}
	for _, a := range s.accounts {
		p.unless(a.Automount != nil && !*a.Automount, "account %s mounts a token", a.Metadata.Name)
	}
	for _, c := range s.cronJobs {
		p = append(p, c.problems()...)
	}
	for _, d := range s.deployments {
		p.unless(has(d.Spec.Template.Metadata.Labels, d.Spec.Selector.MatchLabels), "%s: its selector selects not its pods",
			d.Metadata.Name)
	}
	for _, v := range s.services {
		port := len(v.Spec.Ports) == 1 && s.reaches(v.Spec.Selector, v.Spec.Ports[0].TargetPort)
		p.unless(port && v.Spec.PublishNotReady, "Service %s does not always lead to the page", v.Metadata.Name)
	}
	for _, b := range s.budgets {
		p.unless(b.Spec.MaxUnavailable > 0 && slices.ContainsFunc(s.workloads(), func(w workload) bool {
			return has(w.pod.Metadata.Labels, b.Spec.Selector.MatchLabels)
		}), "PodDisruptionBudget %s is of no pod, or lets none go", b.Metadata.Name)
	}
	for _, m := range s.byService {
		p.unless(slices.ContainsFunc(s.services, func(v service) bool { return has(v.Metadata.Labels, m.Spec.Selector.MatchLabels) }),
			"ServiceMonitor %s selects no Service", m.Metadata.Name)
	}
	for _, m := range s.monitors {
		port := len(m.Spec.Endpoints) == 1 && s.reaches(m.Spec.Selector.MatchLabels, m.Spec.Endpoints[0].Port)
		p.unless(port, "PodMonitor %s does not lead to the metrics", m.Metadata.Name)
	}
	return p
}

// reaches reports whether a pod has the labels and the port.
func (s shape) reaches(labels map[string]string, port string) bool {
	return slices.ContainsFunc(s.workloads(), func(w workload) bool {
		c, ok := w.keeper()
		return ok && has(w.pod.Metadata.Labels, labels) && len(c.Ports) == 1 && c.Ports[0].Name == port
	})
}

func has(all, some map[string]string) bool {
	for k, v := range some {
		if all[k] != v {
			return false
		}
	}
	return len(some) > 0
}

func (s shape) podProblems(w workload) []string {
	var p problems
	c, ok := w.keeper()
	if !ok {
		return []string{w.name + " has no container sandkeeper"}
	}
	p = append(p, c.problems(w)...)
	p = append(p, s.configProblems(w, c)...)
	if !w.owned {
		p.unless(w.pod.Spec.Containers[0].Name != c.Name, "%s: sandkeeper is the platform's first container", w.name)
		p.unless(w.pod.Spec.Grace == nil, "%s: the platform's grace period is changed", w.name)
		return p
	}
	spec := w.pod.Spec
	p.unless(spec.Automount != nil && !*spec.Automount, "%s mounts a token", w.name)
	p.unless(spec.ServiceLinks != nil && !*spec.ServiceLinks, "%s: enableServiceLinks sets SANDKEEPER_PORT", w.name)
	p.unless(spec.Grace != nil && *spec.Grace == 40, "%s: the grace period is not 40 s", w.name)
	p.unless(spec.Account == "" || slices.ContainsFunc(s.accounts, func(a serviceAccount) bool {
		return a.Metadata.Name == spec.Account
	}), "%s: there is no account %s", w.name, spec.Account)
	return p
}

func (c container) problems(w workload) []string {
	var p problems
	x := c.Security
	p.unless(x.NonRoot && x.User == 65532 && x.Group == 65532 && x.ReadOnlyRoot && x.Escalation != nil && !*x.Escalation &&
		slices.Equal(x.Capabilities.Drop, []string{"ALL"}) && x.Seccomp.Type == "RuntimeDefault",
		"%s: securityContext is %+v", w.name, x)
	p.unless(c.Resources.Limits["memory"] == "256Mi", "%s: limits.memory is %q", w.name, c.Resources.Limits["memory"])
	p.unless(c.Resources.Requests["memory"] != "" && c.Resources.Requests["cpu"] != "", "%s requests too little", w.name)
	soft, _ := c.env("GOMEMLIMIT")
	limit, err := strconv.Atoi(strings.TrimSuffix(soft, "MiB"))
	p.unless(err == nil && limit <= 256*8/10, "%s: GOMEMLIMIT %q leaves no room below the limit", w.name, soft)
	p.unless(c.Image == w.image, "%s: image is %s", w.name, c.Image)
	if len(c.Ports) > 0 {
		p = append(p, c.probeProblems(w)...)
	}
	return p
}

func (c container) probeProblems(w workload) []string {
	var p problems
	at := func(b *probe, path string) bool {
		return b != nil && b.HTTP.Path == path && b.HTTP.Port == c.Ports[0].Name && b.Timeout > 0
	}
	p.unless(at(c.Liveness, "/healthz"), "%s: livenessProbe does not ask /healthz at its port", w.name)
	if w.owned {
		p.unless(at(c.Readiness, "/readyz"), "%s: readinessProbe does not ask /readyz at its port", w.name)
	} else {
		p.unless(c.Readiness == nil, "%s: a readinessProbe of ours takes the platform's pods down", w.name)
	}
	return p
}

// remarks are the lines that say nothing to the program.
var remarks = regexp.MustCompile(`(?m)^\s*#.*$`)

// asked are the variables without a default that a config takes.
var asked = regexp.MustCompile(`\$\{([A-Z_]+)\}`)

// configProblems holds the pod against the config that it gets.
func (s shape) configProblems(w workload, c container) []string {
	var p problems
	mounted := map[string]volume{}
	for _, m := range c.Mounts {
		i := slices.IndexFunc(w.pod.Spec.Volumes, func(v volume) bool { return v.Name == m.Name })
		p.unless(i >= 0 && m.ReadOnly, "%s: mount %s is of no volume, or not read-only", w.name, m.Path)
		if i >= 0 {
			mounted[m.Path] = w.pod.Spec.Volumes[i]
		}
	}
	text := s.config(mounted["/etc/sandkeeper"].ConfigMap.Name)
	p.unless(text != "", "%s gets no config", w.name)
	for _, m := range asked.FindAllStringSubmatch(remarks.ReplaceAllString(text, ""), -1) {
		p.unless(c.sets(m[1]), "%s: nothing sets %s", w.name, m[1])
	}
	if len(c.Ports) > 0 {
		p = append(p, c.webProblems(w, text, mounted)...)
	}
	return p
}

// config is the text that a config map holds.
func (s shape) config(name string) string {
	for _, m := range s.configs {
		if m.Metadata.Name == name {
			return m.Data["sandkeeper.yaml"]
		}
	}
	return ""
}

// sets reports whether the container has a variable: every secret of deploy/README.md has
// the ledger's address, the keeper's also that of the tasks and the provider's key.
func (c container) sets(name string) bool {
	if _, ok := c.env(name); ok {
		return true
	}
	return len(c.EnvFrom) > 0 && (name == "DATABASE_URL" || c.EnvFrom[0].Secret.Name == "sandkeeper")
}

// webProblems: the page listens where the pod says, and has its users.
func (c container) webProblems(w workload, text string, mounted map[string]volume) []string {
	var p problems
	var config struct {
		Web struct {
			Listen     string `yaml:"listen"`
			ConfigFile string `yaml:"config_file"`
		} `yaml:"web"`
	}
	err := yaml.Unmarshal([]byte(text), &config)
	p.unless(err == nil && config.Web.Listen == fmt.Sprintf(":%d", c.Ports[0].Port),
		"%s: its port is not that of web.listen %s", w.name, config.Web.Listen)
	p.unless(mounted[filepath.Dir(config.Web.ConfigFile)].Secret.Name != "",
		"%s: web.config_file %s is in no secret", w.name, config.Web.ConfigFile)
	return p
}

func (c cronJob) problems() []string {
	var p problems
	j := c.Spec.JobTemplate.Spec
	k, _ := workload{pod: j.Template}.keeper()
	var timeout time.Duration
	if i := slices.Index(k.Args, "--timeout"); i >= 0 && i+1 < len(k.Args) {
		timeout, _ = time.ParseDuration(k.Args[i+1]) // 0 is a problem below
	}
	deadline := time.Duration(j.ActiveDeadline) * time.Second
	p.unless(timeout > 0 && deadline >= timeout+20*time.Second,
		"%s: activeDeadlineSeconds %s ends it before --timeout %s does", c.Metadata.Name, deadline, timeout)
	p.unless(c.Spec.ConcurrencyPolicy == "Forbid", "concurrencyPolicy is %s", c.Spec.ConcurrencyPolicy)
	p.unless(j.BackoffLimit != nil && *j.BackoffLimit == 0 && j.Template.Spec.Restart == "Never",
		"a failed run is tried again: backoffLimit, restartPolicy")
	// The controller looks every 10 s: with less, runs are missed for ever.
	p.unless(c.Spec.StartingDeadline >= 10, "startingDeadlineSeconds is %d", c.Spec.StartingDeadline)
	p.unless(c.Spec.KeepSuccessful != nil && c.Spec.KeepFailed != nil, "finished runs are kept without a limit")
	every, _ := k.env("SANDKEEPER_FULL")
	p.unless(c.Spec.Schedule == "* * * * *" && every == "@every 1m", "schedule %s is not SANDKEEPER_FULL %s",
		c.Spec.Schedule, every)
	return p
}
