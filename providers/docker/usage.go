package docker

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Usage is what the container uses right now: of the processors that it may use, and of its
// memory. It takes the engine a second.
func (p *Provider) Usage(ctx context.Context, s reconcile.Sandbox) (reconcile.Resources, error) {
	c, _, err := p.inspect(ctx, s.ID)
	var seen container.StatsResponse
	if err == nil {
		seen, err = p.stats(ctx, s.ID, true)
	}
	if err != nil {
		return reconcile.Resources{}, p.base.Wrap("measure sandbox", s.ID, err)
	}
	memory := seen.MemoryStats
	idle := memory.Stats["inactive_file"] // a cache that is given up when memory is wanted
	if old, ok := memory.Stats["total_inactive_file"]; ok {
		idle = old
	}
	return reconcile.Resources{CPUPercent: percent(&seen, processors(float64(seen.CPUStats.OnlineCPUs), c.HostConfig)),
		MemoryUsed: size(memory.Usage - min(idle, memory.Usage)), MemoryTotal: size(memory.Limit)}, nil
}

// size is a number of bytes; no limit at all is written as the largest number there is.
func size(n uint64) int64 { return int64(min(n, math.MaxInt64)) }

// stats takes a sample, or two of them where the engine does, of a container that has a full id.
func (p *Provider) stats(ctx context.Context, id string, two bool) (seen container.StatsResponse, err error) {
	_, err = p.call(ctx, func(ctx context.Context, c *client.Client) error {
		got, err := c.ContainerStats(ctx, id, client.ContainerStatsOptions{IncludePreviousSample: two})
		if err != nil {
			return err
		}
		defer got.Body.Close()
		return json.NewDecoder(got.Body).Decode(&seen)
	})
	if err == nil && seen.Read.IsZero() {
		err = errors.New("the answer holds no measurement")
	}
	return seen, err
}

// percent is the use between the two samples; no number where there is only one, as with
// Podman.
func percent(s *container.StatsResponse, processors float64) float64 {
	before, after := s.PreCPUStats, s.CPUStats
	if before.SystemUsage == 0 || after.SystemUsage <= before.SystemUsage || processors <= 0 ||
		after.CPUUsage.TotalUsage < before.CPUUsage.TotalUsage {
		return math.NaN()
	}
	used := float64(after.CPUUsage.TotalUsage-before.CPUUsage.TotalUsage) * float64(after.OnlineCPUs)
	return used * 100 / (float64(after.SystemUsage-before.SystemUsage) * processors)
}

// processors are how many of all the container may use.
func processors(all float64, c *container.HostConfig) float64 {
	switch {
	case c == nil:
		return all
	case c.NanoCPUs > 0:
		return min(all, float64(c.NanoCPUs)/1e9)
	case c.CPUQuota > 0:
		period := float64(c.CPUPeriod)
		if period == 0 {
			period = 100_000
		}
		return min(all, float64(c.CPUQuota)/period)
	}
	return all
}

// between is the time between two samples: more than two of the longest periods there are.
const between = 2200 * time.Millisecond

// starved reports whether the container is held back all the time because it uses up the
// processor time that it may use. It may be well, and only slow. It is an error where the
// engine gives no sample.
func (p *Provider) starved(ctx context.Context, id string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, aside+between)
	defer cancel()
	before, err := p.stats(ctx, id, false)
	was := before.CPUStats.ThrottlingData
	if err != nil || was.ThrottledPeriods == 0 {
		return false, err
	}
	if err := reconcile.Sleep(ctx, between); err != nil {
		return false, err
	}
	after, err := p.stats(ctx, id, false)
	is := after.CPUStats.ThrottlingData
	return is.Periods > was.Periods && is.ThrottledPeriods >= was.ThrottledPeriods &&
		(is.ThrottledPeriods-was.ThrottledPeriods)*2 >= is.Periods-was.Periods, err
}

// logLines are the last lines that a log is read from.
const logLines = "2000"

// Logs is the end of what the container printed, at most limit bytes.
func (p *Provider) Logs(ctx context.Context, s reconcile.Sandbox, limit int) (string, error) {
	text, err := p.logs(ctx, s.ID)
	return p.client.Tail(text, limit), p.base.Wrap("read logs of sandbox", s.ID, err)
}

func (p *Provider) logs(ctx context.Context, id string) (string, error) {
	seen, _, err := p.inspect(ctx, id)
	if err != nil {
		return "", err
	}
	var body []byte
	_, err = p.call(ctx, func(ctx context.Context, c *client.Client) error {
		log, err := c.ContainerLogs(ctx, id, client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true, Tail: logLines})
		if err != nil {
			return err
		}
		defer log.Close()
		body, err = io.ReadAll(log)
		return err
	})
	if err != nil || seen.Config != nil && seen.Config.Tty { // a terminal's log has no frames
		return string(body), err
	}
	var text strings.Builder
	err = frames(body, func(_ byte, part []byte) { text.Write(part) })
	return text.String(), err
}
