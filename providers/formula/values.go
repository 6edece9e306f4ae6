package formula

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// The bounds of an answer, besides its size. A value takes up to fifty times the memory of
// its text.
const (
	mostValues = 1 << 20
	deepest    = 64
)

// Decode reads the JSON of an answer into nil, bool, int, float64, string, []any and
// map[string]any.
func Decode(body []byte) (any, error) {
	r := reader{names: map[string]string{}, in: jsontext.NewDecoder(bytes.NewBuffer(body),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
	v, err := r.value(0)
	if err != nil {
		return nil, fmt.Errorf("read the answer's JSON: %w", err)
	}
	if _, err := r.in.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("read the answer's JSON: something follows it")
	}
	return v, nil
}

type reader struct {
	in    *jsontext.Decoder
	names map[string]string // of fields, as they stand in the text
	count int
}

func (r *reader) value(depth int) (any, error) {
	if r.count++; r.count > mostValues || depth > deepest {
		return nil, fmt.Errorf("it holds more than %d values, or more than %d in each other", mostValues, deepest)
	}
	switch r.in.PeekKind() {
	case '{':
		return r.object(depth)
	case '[':
		return r.list(depth)
	case '0':
		raw, err := r.in.ReadValue()
		return number(string(raw)), err
	}
	token, err := r.in.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case 't', 'f':
		return token.Bool(), nil
	case '"':
		return token.String(), nil
	}
	return nil, nil
}

func (r *reader) object(depth int) (any, error) {
	if _, err := r.in.ReadToken(); err != nil {
		return nil, err
	}
	out := map[string]any{}
	for r.in.PeekKind() == '"' {
		name, err := r.name()
		if err != nil {
			return nil, err
		}
		if out[name], err = r.value(depth + 1); err != nil {
			return nil, err
		}
	}
	_, err := r.in.ReadToken()
	return out, err
}

// name is the name of a field. Listings repeat the same few.
func (r *reader) name() (string, error) {
	raw, err := r.in.ReadValue()
	if err != nil {
		return "", err
	}
	if name, met := r.names[string(raw)]; met {
		return name, nil
	}
	text := string(raw)
	name, err := jsontext.AppendUnquote(nil, raw)
	if err != nil && !strings.ContainsRune(string(name), '\uFFFD') {
		return "", err
	}
	r.names[text] = string(name)
	return string(name), nil
}

func (r *reader) list(depth int) (any, error) {
	if _, err := r.in.ReadToken(); err != nil {
		return nil, err
	}
	out := []any{}
	for k := r.in.PeekKind(); k != ']' && k != 0; k = r.in.PeekKind() {
		v, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	_, err := r.in.ReadToken()
	return out, err
}

// number is a whole number where it is one, and its text where nothing can hold it.
func number(text string) any {
	if whole, err := strconv.Atoi(text); err == nil {
		return whole
	}
	if float, err := strconv.ParseFloat(text, 64); err == nil && strings.ContainsAny(text, ".eE") {
		return float
	}
	return text
}

// Text is a value as a text: a text itself, a whole number, a truth. Anything else is none.
func Text(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	}
	if whole, ok := Whole(v); ok {
		return strconv.Itoa(whole), true
	}
	return "", false
}

// Whole is a value as a whole number, also of 3.0.
func Whole(v any) (int, bool) {
	switch v := v.(type) {
	case int:
		return v, true
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int(v), true
		}
	}
	return 0, false
}

// Labels are a value as labels: an object, or a list of texts key=value or key:value. What
// is neither text, number nor truth is left out.
func Labels(v any) map[string]string {
	out := map[string]string{}
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if text, ok := Text(value); ok {
				out[key] = text
			}
		}
	case []any:
		for _, item := range v {
			if text, ok := item.(string); ok {
				key, value := cut(text)
				out[key] = value
			}
		}
	default:
		return nil
	}
	return out
}

// cut splits a tag at its first = or colon.
func cut(tag string) (key, value string) {
	if at := strings.IndexAny(tag, "=:"); at >= 0 {
		return tag[:at], tag[at+1:]
	}
	return tag, ""
}

// Moment is a value as a time: RFC 3339, or a number since 1970 whose size tells seconds,
// milliseconds, microseconds and nanoseconds apart. Anything else, and what is before 1970 or
// after 2200, is the zero time.
func Moment(v any) time.Time {
	var at time.Time
	switch v := v.(type) {
	case time.Time:
		at = v
	case string:
		at, _ = time.Parse(time.RFC3339, v) // the zero time, else
		if number, err := strconv.ParseFloat(v, 64); err == nil {
			at = since(number)
		}
	case int:
		at = since(float64(v))
	case float64:
		at = since(v)
	}
	if at.Year() < 1970 || at.Year() > 2200 {
		return time.Time{}
	}
	return at.UTC()
}

func since(number float64) time.Time {
	switch {
	case !(number > 0 && number < 1e19):
		return time.Time{}
	case number >= 1e17:
		return time.Unix(0, int64(min(number, math.MaxInt64/2)))
	case number >= 1e14:
		return time.UnixMicro(int64(number))
	case number >= 1e11:
		return time.UnixMilli(int64(number))
	}
	whole, part := math.Modf(number)
	return time.Unix(int64(whole), int64(part*1e9)).Truncate(time.Millisecond)
}
