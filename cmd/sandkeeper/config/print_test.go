package config

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// printConfig writes a config as one that reads to the same: what its file gave, no more,
// with the variables' values in place of their names.
func printConfig(c *Config) string {
	p := configPrinter{c.report}
	return p.section(reflect.ValueOf(c).Elem(), "") + "\n"
}

type configPrinter struct{ *report }

func (p configPrinter) value(v reflect.Value, key string) string {
	if text, ok := scalarText(v); ok {
		return text
	}
	switch {
	case isSection(v.Type()):
		return p.section(v, key)
	case v.Kind() == reflect.Map:
		return p.mapping(v, key)
	}
	items := make([]string, v.Len())
	for i := range items {
		items[i] = p.value(v.Index(i), fmt.Sprintf("%s[%d]", key, i))
	}
	return "[" + strings.Join(items, ", ") + "]"
}

func (p configPrinter) section(v reflect.Value, key string) string {
	var parts []string
	fields := sectionFields(v.Type())
	for _, name := range slices.Sorted(keysOf(fields)) {
		path := joinKey(key, name)
		if _, fromFile := fields[name+"_file"]; !p.given(path) || fromFile && p.given(path+"_file") {
			continue
		}
		value := v.FieldByIndex(fields[name].Index)
		if fields[name].inline {
			value = value.MapIndex(reflect.ValueOf(name))
		}
		parts = append(parts, quotedText(name)+": "+p.value(value, path))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func (p configPrinter) mapping(v reflect.Value, key string) string {
	var parts []string
	for _, name := range v.MapKeys() {
		parts = append(parts, keyAsText(name.String())+": "+p.value(v.MapIndex(name), joinKey(key, name.String())))
	}
	slices.Sort(parts)
	return "{" + strings.Join(parts, ", ") + "}"
}

// scalarText writes what is written as one word; ok is false for what is not.
func scalarText(v reflect.Value) (text string, ok bool) {
	switch x := v.Interface().(type) {
	case string:
		return quotedText(x), true
	case Secret:
		return quotedText(x.Reveal()), true
	case Threshold:
		return quotedText(x.String()), true
	case time.Duration:
		return quotedText(x.String()), true
	case Percent:
		if x == 1 {
			return quotedText("100%"), true
		}
		return quotedText(strconv.FormatFloat(float64(x), 'g', -1, 64)), true
	case Rate:
		return quotedText(fmt.Sprintf("%d/%s", x.Count, map[time.Duration]string{time.Second: "s", time.Minute: "m", time.Hour: "h"}[x.Per])), true
	case CronLine:
		return quotedText(x.Text), true
	case slog.Level:
		return quotedText(strings.ToLower(x.String())), true
	case netip.Prefix:
		return quotedText(x.String()), true
	case TasksConfig:
		return `"none"`, x.None
	case RowConfig:
		return `"none"`, x.None
	case EventTypeConfig:
		return quotedText(x.Type), x.Where == ""
	case NotifyConfig:
		return "", false
	case ProbeConfig:
		return `"off"`, x.Off
	case ProofConfig:
		return `"off"`, x.Off
	case bool, int, float64:
		return fmt.Sprint(x), true
	}
	if v.Kind() == reflect.String {
		return quotedText(v.String()), true
	}
	return "", false
}

// quotedText is a text in quotes, in which nothing is a variable.
func quotedText(text string) string { return keyAsText(strings.ReplaceAll(text, "${", "$${")) }

func keyAsText(text string) string {
	out, err := json.Marshal(text) // a text always encodes, and YAML reads it as JSON does
	if err != nil {
		return `""`
	}
	return string(out)
}
