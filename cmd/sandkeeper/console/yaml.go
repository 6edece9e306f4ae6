package console

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// PrintYAML writes the same as [PrintJSON], as YAML. The libraries leave texts without quotes that another parser
// takes for a number or a marker, so every text that is not a plain word is in quotes here.
func PrintYAML(w io.Writer, v any) error {
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(v); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	y := yamlWriter{in: json.NewDecoder(&b)}
	y.in.UseNumber()
	if err := y.value(0, ""); err != nil {
		return fmt.Errorf("write the result as YAML: %w", err)
	}
	_, err := w.Write(y.out.Bytes())
	return err
}

// A yamlWriter writes JSON as YAML, token by token, so that the order of the keys stays.
type yamlWriter struct {
	in  *json.Decoder
	out bytes.Buffer
}

// value writes the next value behind what began its line.
func (y *yamlWriter) value(depth int, begun string) error {
	t, err := y.in.Token()
	if err != nil {
		return err
	}
	switch t := t.(type) {
	case json.Delim:
		if !y.in.More() {
			_, err = y.in.Token()
			y.line(begun, map[json.Delim]string{'{': "{}", '[': "[]"}[t])
			return err
		}
		if strings.HasSuffix(begun, ":") {
			y.line(begun, "")
			begun = ""
		}
		return y.inside(t, depth, begun)
	case string:
		y.line(begun, YAMLText(t))
	case nil:
		y.line(begun, "null")
	default:
		y.line(begun, fmt.Sprint(t))
	}
	return nil
}

// inside writes what a mapping or a list holds. The first line goes on behind what began it, as behind a dash.
func (y *yamlWriter) inside(open json.Delim, depth int, begun string) error {
	for y.in.More() {
		if begun == "" {
			begun = strings.Repeat("  ", depth)
		}
		if open == '[' {
			begun += "- "
		} else {
			key, err := y.in.Token()
			name, is := key.(string)
			if err != nil || !is {
				return errors.Join(err, errors.New("a key is no text"))
			}
			begun += YAMLText(name) + ":"
		}
		if err := y.value(depth+1, begun); err != nil {
			return err
		}
		begun = ""
	}
	_, err := y.in.Token()
	return err
}

func (y *yamlWriter) line(begun, value string) {
	if strings.HasSuffix(begun, ":") && value != "" {
		begun += " "
	}
	fmt.Fprintln(&y.out, begun+value)
}

// plainWord is a word, a time like 1m30s, a part like 10%, or a rate like 20/s: no parser takes them for anything else.
var plainWord = regexp.MustCompile(`^([A-Za-z/][A-Za-z0-9_./@-]*|([0-9]+(d|h|m|s|ms))+|[0-9.]+%|[0-9]+/[smh])$`)

// YAMLText is a text as every parser of YAML takes it for that text.
func YAMLText(s string) string {
	words := []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
	if plainWord.MatchString(s) && !slices.Contains(words, strings.ToLower(s)) {
		return s
	}
	var out strings.Builder
	out.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			out.WriteString(`\` + string(r))
		case r == '\n':
			out.WriteString(`\n`)
		case r == '\t':
			out.WriteString(`\t`)
		case unseen(r):
			fmt.Fprintf(&out, `\U%08x`, r)
		default:
			out.WriteRune(r)
		}
	}
	out.WriteByte('"')
	return out.String()
}
