package decide

import (
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// five are the ages of five measurements over ten minutes.
var five = []time.Duration{10 * time.Minute, 8 * time.Minute, 6 * time.Minute, 2 * time.Minute, 0}

func TestRunaway(t *testing.T) {
	const live = "task t1 running started=2h ev.activity=1h; box daytona/s1 running task=t1; "
	const box = "box daytona/s1 running task=t1; "
	at := func(words string) string { return worldtest.Ages("daytona/s1", words, five...) }
	testRule(t, "runaway", map[string]ruleCase{
		"busy for the threshold": {live + at("cpu=95"), "report",
			"sandbox s1: CPU at 95 % for 10m, without activity of its worker: likely infinite loop"},
		"busy with a span":   {live + at("cpu=95") + "vitals daytona/s1 at=-1s cpu=100", "report", "CPU at 95 to 100 %"},
		"a little less busy": {live + at("cpu=94.9"), "healthy", ""},
		"less busy at last":  {live + at("cpu=99") + "vitals daytona/s1 at=-1s cpu=94", "healthy", ""},
		"less busy at first": {live + "vitals daytona/s1 at=11m cpu=94; " + at("cpu=99"), "report", "for 10m"},
		"less busy in between": {live + worldtest.Ages("daytona/s1", "cpu=99", 10*time.Minute) + "vitals daytona/s1 at=9m cpu=50; " +
			worldtest.Ages("daytona/s1", "cpu=99", five[1:]...), "probe", "over 8m of 10m, measured 4 times"},
		"a second too short":         {live + worldtest.Ages("daytona/s1", "cpu=99", 599*time.Second, 5*time.Minute, 0), "probe", "9m59s of 10m"},
		"measured twice":             {live + worldtest.Ages("daytona/s1", "cpu=99", time.Hour, 0), "probe", "measured 2 times"},
		"measured three times":       {live + worldtest.Ages("daytona/s1", "cpu=99", time.Hour-1, 5*time.Minute, 0), "report", ""},
		"not measured in between":    {live + worldtest.Ages("daytona/s1", "cpu=99", 10*time.Minute) + "vitals daytona/s1 at=9m queued=0; " + worldtest.Ages("daytona/s1", "cpu=99", five[1:]...), "report", ""},
		"its worker was active":      {"task t1 running started=2h ev.activity=9m59s; " + box + at("cpu=99"), "probe", "its worker was active meanwhile"},
		"active just before":         {"task t1 running started=2h ev.activity=10m; " + box + at("cpu=99"), "report", ""},
		"heartbeats are no activity": {"task t1 running started=2h ev.heartbeat=1s; " + box + at("cpu=99"), "report", ""},
		"idle while its task runs": {live + at("cpu=1"), "report",
			"CPU at 1 % while its task runs for 10m, without activity of its worker: likely hung"},
		"a little less idle":         {live + at("cpu=1.1"), "healthy", ""},
		"idle, its task is assigned": {"task t1 assigned; " + box + at("cpu=0"), "healthy", ""},
		"idle, its task is finished": {"row t1 completed; " + box + at("cpu=0"), "healthy", ""},
		"idle without a task":        {"box daytona/s1 running; " + at("cpu=0"), "healthy", ""},
		"busy without a task":        {"box daytona/s1 running; " + at("cpu=99"), "report", "infinite loop"},
		"memory grows to its limit": {live +
			"vitals daytona/s1 at=10m mem=100/1000; vitals daytona/s1 at=5m mem=110/1000; vitals daytona/s1 at=0s mem=900/1000",
			"report", "memory grew from 100 MiB to 900 MiB of 1000 MiB for 10m, without activity of its worker: likely leak"},
		"memory grows, full in ten minutes": {live +
			"vitals daytona/s1 at=10m mem=500/1000; vitals daytona/s1 at=5m mem=600/1000; vitals daytona/s1 at=0s mem=750/1000",
			"report", "likely leak"},
		"memory grows, full in eleven": {live +
			"vitals daytona/s1 at=10m mem=500/1000; vitals daytona/s1 at=5m mem=600/1000; vitals daytona/s1 at=0s mem=738/1000",
			"healthy", ""},
		"memory is full and stands": {live + at("mem=950/1000"), "healthy", ""},
		"memory grows and stands once": {live +
			"vitals daytona/s1 at=10m mem=500/1000; vitals daytona/s1 at=5m mem=500/1000; vitals daytona/s1 at=0s mem=950/1000",
			"probe", "measured 2 times"},
		"memory shrank at last": {live +
			"vitals daytona/s1 at=10m mem=500/1000; vitals daytona/s1 at=5m mem=950/1000; vitals daytona/s1 at=0s mem=940/1000",
			"healthy", ""},
		"busy and leaking": {live +
			"vitals daytona/s1 at=10m cpu=99 mem=500/1000; vitals daytona/s1 at=5m cpu=99 mem=600/1000; " +
			"vitals daytona/s1 at=0s cpu=99 mem=950/1000", "report", "likely infinite loop; memory grew"},
		"what its log speaks of": {live + at("cpu=99 signs=time-out") + "vitals daytona/s1 at=-1s cpu=99 signs=stack", "report",
			"its log speaks of stack, time-out"},
		"resumed 2m before":               {live + at("cpu=99") + "knew box daytona/s1 running task=t1 resumed=12m", "report", ""},
		"resumed a second later":          {live + at("cpu=99") + "knew box daytona/s1 running task=t1 resumed=719s", "probe", "8m of 10m"},
		"our watch began with the first":  {live + at("cpu=99") + "watched since=10m", "report", ""},
		"our watch began after the first": {live + at("cpu=99") + "watched since=599s", "probe", "8m of 10m"},
		"measured too long ago":           {live + worldtest.Ages("daytona/s1", "cpu=99", 50*time.Minute, 40*time.Minute, 30*time.Minute+1), "healthy", ""},
		"not ours":                        {"task t1 running; box daytona/s1 running task=t1 owned=no; " + at("cpu=99"), "healthy", ""},
		"suspended":                       {"task t1 running; box daytona/s1 suspended task=t1; " + at("cpu=99"), "healthy", ""},
		"never acted on":                  {"rule runaway remedy=terminate; " + live + at("cpu=99"), "report", ""},
		"without a threshold":             {"rule runaway after=0s; " + live + at("cpu=99"), "healthy", ""},
		"a class with a longer one":       {"rule runaway when.template=gpu then=11m; task t1 running template=gpu; " + box + at("cpu=99"), "probe", "of 11m"},
		"a class with a shorter one":      {"rule runaway after=1h when.template=gpu then=10m; task t1 running template=gpu; " + box + at("cpu=99"), "report", ""},
	})
}
