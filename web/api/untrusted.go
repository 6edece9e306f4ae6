package api

import (
	"reflect"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// Untrusted is a text that a tenant may have written, where a model reads it: it says so with each value.
type Untrusted struct {
	Text any `json:"untrusted"`
}

// Typed is a document as a model reads it: what its type marks with x-untrusted stands as [Untrusted], and no text has
// a character that is not seen.
func Typed(v any) any { return typed(reflect.ValueOf(v)) }

func typed(v reflect.Value) any {
	if at, is := v.Interface().(time.Time); is {
		return at
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return typed(v.Elem())
	case reflect.String:
		return text.Line(v.String())
	case reflect.Slice:
		out := []any{}
		for i := range v.Len() {
			out = append(out, typed(v.Index(i)))
		}
		return out
	case reflect.Map:
		out := map[string]any{}
		for _, key := range v.MapKeys() {
			out[text.Line(key.String())] = typed(v.MapIndex(key))
		}
		return out
	case reflect.Struct:
		return typedFields(v)
	}
	return v.Interface()
}

func typedFields(v reflect.Value) map[string]any {
	out := map[string]any{}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if options != "" && v.Field(i).IsZero() {
			continue // omitempty, omitzero
		}
		out[name] = typed(v.Field(i))
		if strings.Contains(field.Tag.Get("jsonschema_extras"), "x-untrusted=true") {
			out[name] = Untrusted{out[name]}
		}
	}
	return out
}
