package config

import (
	"log/slog"
	"math"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

const day = 24 * time.Hour

// A Percent is a part of a whole, 0.1 for `10%`.
type Percent float64

// A Rate is so many in a time: `20/s`, `50/m`, `1000/h`.
type Rate struct {
	Count int
	Per   time.Duration
}

// PerSecond is the rate as calls a second.
func (r Rate) PerSecond() float64 { return float64(r.Count) / r.Per.Seconds() }

// PerMinute is how many whole ones fit into a minute.
func (r Rate) PerMinute() int { return int(time.Duration(r.Count) * time.Minute / r.Per) }

// textParsers read the values that are written as one scalar, by their type. The sections
// among them may also be written as one word.
var textParsers = map[reflect.Type]func(string) (any, *misfit){
	reflect.TypeFor[string]():           func(s string) (any, *misfit) { return s, nil },
	reflect.TypeFor[bool]():             textParser(parseBool),
	reflect.TypeFor[int]():              textParser(parseInt),
	reflect.TypeFor[float64]():          textParser(parseNumber),
	reflect.TypeFor[time.Duration]():    textParser(parseDuration),
	reflect.TypeFor[Threshold]():        textParser(parseThreshold),
	reflect.TypeFor[Percent]():          textParser(parsePercent),
	reflect.TypeFor[Rate]():             textParser(parseRate),
	reflect.TypeFor[CronLine]():         textParser(parseCronLine),
	reflect.TypeFor[Secret]():           func(s string) (any, *misfit) { return NewSecret(s), nil },
	reflect.TypeFor[slog.Level]():       textParser(parseLevel),
	reflect.TypeFor[netip.Prefix]():     textParser(parsePrefix),
	reflect.TypeFor[reconcile.Mode]():   textParser(parseMode),
	reflect.TypeFor[reconcile.Remedy](): textParser(parseRemedy),
	reflect.TypeFor[TasksConfig]():      textParser(parseNoTasks),
	reflect.TypeFor[RowConfig]():        textParser(parseNoWrite),
	reflect.TypeFor[EventsConfig]():     textParser(parseNoEvents),
	reflect.TypeFor[EventTypeConfig]():  textParser(parseEventType),
	reflect.TypeFor[NotifyConfig]():     textParser(parseNotify),
	reflect.TypeFor[ProbeConfig]():      textParser(parseNoProbe),
	reflect.TypeFor[RuleConfig]():       textParser(parseBareMode),
	reflect.TypeFor[ProofConfig]():      textParser(parseNoProof),
}

var (
	secretType = reflect.TypeFor[Secret]()
	notifyType = reflect.TypeFor[NotifyConfig]() // may be written as its address, which is a secret
)

// typeExamples are how values of these types are written.
var typeExamples = map[reflect.Type]string{
	reflect.TypeFor[time.Duration]():    "like 30s, 5m or 30d",
	reflect.TypeFor[Threshold]():        "like 30s, 5m, 30d or auto",
	reflect.TypeFor[Percent]():          "like 10%",
	reflect.TypeFor[Rate]():             "like 20/s",
	reflect.TypeFor[CronLine]():         `like "@every 15s"`,
	reflect.TypeFor[reconcile.Mode]():   "of off, observe, enforce",
	reflect.TypeFor[reconcile.Remedy](): "of " + joinWords(remedyWords),
}

func textParser[T any](parse func(string) (T, *misfit)) func(string) (any, *misfit) {
	return func(text string) (any, *misfit) { return parse(text) }
}

func joinWords[T ~string](words []T) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = string(w)
	}
	return strings.Join(texts, ", ")
}

func parseBool(text string) (bool, *misfit) {
	switch text {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, &misfit{problem: "is neither true nor false", fix: "write true or false"}
}

func parseInt(text string) (int, *misfit) {
	n, err := strconv.Atoi(text)
	if err != nil || n < math.MinInt32 || n > math.MaxInt32 {
		return 0, &misfit{problem: "is not a whole number", fix: "write it like 20"}
	}
	return n, nil
}

func parseNumber(text string) (float64, *misfit) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) || n < 0 {
		return 0, &misfit{problem: "is not a number of 0 or more", fix: "write it like 0.08"}
	}
	return n, nil
}

func parseDuration(s string) (time.Duration, *misfit) {
	d, ok := text.ParseDuration(s)
	if _, err := strconv.ParseFloat(s, 64); !ok && err == nil && !strings.HasPrefix(s, "-") {
		return 0, &misfit{problem: "has no unit", fix: "write it like " + clipped(s) + "s for seconds, " + clipped(s) +
			"m or " + clipped(s) + "d"}
	}
	if !ok {
		return 0, &misfit{problem: "is not a duration", fix: "write it like 30s, 5m or 30d"}
	}
	return d, nil
}

// parsePercent reads 10% or 0.1. A bare 1 may mean either, so it means neither.
func parsePercent(text string) (Percent, *misfit) {
	digits, sign := strings.CutSuffix(text, "%")
	n, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if err != nil || math.IsNaN(n) {
		return 0, &misfit{problem: "is not a percentage", fix: "write it like 10%"}
	}
	if sign {
		n /= 100
	}
	if n > 1 && !sign && n <= 100 {
		return 0, &misfit{problem: "has no % sign", fix: "write it like 10%"}
	}
	if n <= 0 || n > 1 {
		return 0, &misfit{problem: "is not above 0% and up to 100%", fix: "write it like 10%"}
	}
	if n == 1 && !sign {
		return 0, &misfit{problem: "may mean 1% or 100%", fix: "write the % sign"}
	}
	return Percent(n), nil
}

var rateUnits = map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}

func parseRate(text string) (Rate, *misfit) {
	count, unit, _ := strings.Cut(text, "/")
	n, err := strconv.Atoi(count)
	per, ok := rateUnits[unit]
	if unit == "" && err == nil && n > 0 {
		return Rate{}, &misfit{problem: "has no unit", fix: "write it like 20/s, 50/m or 1000/h"}
	}
	if err != nil || !ok || n < 1 || n > 1_000_000 {
		return Rate{}, &misfit{problem: "is not a rate", fix: "write it like 20/s, 50/m or 1000/h"}
	}
	return Rate{n, per}, nil
}

func parseLevel(text string) (slog.Level, *misfit) {
	levels := map[string]slog.Level{
		"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
	}
	level, ok := levels[text]
	if !ok {
		return 0, oneOf(text, []string{"debug", "info", "warn", "error"})
	}
	return level, nil
}

// parsePrefix reads a network, or one address.
func parsePrefix(text string) (netip.Prefix, *misfit) {
	if addr, err := netip.ParseAddr(text); err == nil && addr.Zone() == "" {
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}, &misfit{problem: "is not a network", fix: "write it like 10.0.0.0/8 or 10.1.2.3"}
	}
	return p.Masked(), nil
}

var modeWords = []string{"off", "observe", "enforce"}

// parseMode takes false for off, because YAML 1.1 tools make that of it.
func parseMode(text string) (reconcile.Mode, *misfit) {
	switch {
	case text == "false":
		return reconcile.Off, nil
	case text == "true":
		return "", &misfit{problem: "is not a mode", fix: "write observe or enforce"}
	case !slices.Contains(modeWords, text):
		return "", oneOf(text, modeWords)
	}
	return reconcile.Mode(text), nil
}

var remedyWords = []reconcile.Remedy{
	reconcile.Fail, reconcile.Requeue, reconcile.Terminate, reconcile.Quarantine, reconcile.Stop, reconcile.Report,
	reconcile.Activate,
}

func parseRemedy(text string) (reconcile.Remedy, *misfit) {
	if !slices.Contains(remedyWords, reconcile.Remedy(text)) {
		return "", oneOf(text, strings.Split(joinWords(remedyWords), ", "))
	}
	return reconcile.Remedy(text), nil
}

// oneOf complains of a text that is none of the words.
func oneOf(word string, words []string) *misfit {
	m := misfit{problem: "is not one of " + strings.Join(words, ", "), fix: "use one of them"}
	if near := nearest(word, words); near != "" {
		m.fix = text.DidYouMean(near)
	}
	return &m
}

func parseNoTasks(text string) (TasksConfig, *misfit) {
	if text != "none" {
		return TasksConfig{}, &misfit{problem: "is neither none nor a mapping",
			fix: "describe the task table, or write tasks: none"}
	}
	return TasksConfig{None: true}, nil
}

// parseNoWrite leaves rows as they are.
func parseNoWrite(text string) (RowConfig, *misfit) {
	if text != "none" {
		return RowConfig{}, &misfit{problem: "is neither none nor a mapping",
			fix: "say what is written, like {status: failed, set: {error: \"@reason\"}}, or write none: rows are only read then"}
	}
	return RowConfig{None: true}, nil
}

// parseNoEvents turns the events of a preset off.
func parseNoEvents(text string) (EventsConfig, *misfit) {
	if text != "none" {
		return EventsConfig{}, &misfit{problem: "is neither none nor a mapping",
			fix: "describe the table of events, or write events: none"}
	}
	return EventsConfig{Table: "none"}, nil
}

// parseEventType is a type that means something whatever else the event holds.
func parseEventType(text string) (EventTypeConfig, *misfit) { return EventTypeConfig{Type: text}, nil }

func parseNoProbe(text string) (ProbeConfig, *misfit) {
	if text != "off" && text != "false" {
		return ProbeConfig{}, &misfit{problem: "is neither off nor a mapping",
			fix: `write probe: off, or like {exec: "true", path: "/"}`}
	}
	return ProbeConfig{Off: true}, nil
}

// parseNoProof lets all rules act unproven.
func parseNoProof(text string) (ProofConfig, *misfit) {
	if text != "off" && text != "false" {
		return ProofConfig{}, &misfit{problem: "is neither off nor a mapping",
			fix: "write proof: off, or like {false_positives: 2%, samples: 200}"}
	}
	return ProofConfig{Off: true}, nil
}

func parseBareMode(text string) (RuleConfig, *misfit) {
	mode, err := parseMode(text)
	return RuleConfig{Mode: mode}, err
}
