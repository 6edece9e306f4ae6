package main

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// A configDecoder fills Go values from YAML nodes and reports every mistake that it
// meets; a library's strict mode would stop at the first.
type configDecoder struct {
	*configReport
	getenv func(string) (string, bool)
}

// decodeFresh is decode into a value that gets its defaults before.
func (d *configDecoder) decodeFresh(node ast.Node, into reflect.Value, key string) {
	if v, ok := into.Addr().Interface().(interface{ setDefaults() }); ok {
		v.setDefaults()
	}
	d.decode(node, into, key)
}

// decode fills one value. A section that holds nothing, often because all of it is
// commented out, is as good as not given.
func (d *configDecoder) decode(node ast.Node, into reflect.Value, key string) {
	switch n := node.(type) {
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		d.reject(node, key, misfit{problem: "anchors, aliases and merges are not supported", fix: "write the value out"})
	case *ast.TagNode:
		d.reject(node, key, misfit{problem: "YAML tags are not supported", fix: "remove it; put a text in quotes"})
	case *ast.NullNode:
		if textParsers[into.Type()] != nil && !isSection(into.Type()) {
			d.reject(node, key, misfit{problem: "has no value", fix: "give one, or remove the key"})
		}
	case *ast.MappingNode:
		d.decodeMapping(n, into, key)
	case *ast.MappingValueNode:
		d.decodeMapping(&ast.MappingNode{BaseNode: n.BaseNode, Start: n.Start, Values: []*ast.MappingValueNode{n}}, into, key)
	case *ast.SequenceNode:
		d.decodeList(n, into, key)
	default:
		d.decodeText(node, into, key)
	}
}

func (d *configDecoder) reject(node ast.Node, key string, m misfit) {
	d.failAt(nodePlace(node), ConfigError{Key: key, Problem: m.problem, Fix: m.fix})
	d.bad[key] = true
}

func (d *configDecoder) decodeMapping(node *ast.MappingNode, into reflect.Value, key string) {
	switch {
	case isSection(into.Type()):
		d.decodeSection(node, into, key)
	case into.Kind() == reflect.Map:
		d.decodeMap(node, into, key)
	default:
		d.reject(node, key, misfit{problem: "is a mapping", fix: "must be "+expected(into.Type())})
	}
}

// decodeSection fills a struct, whose tags name the keys.
func (d *configDecoder) decodeSection(node *ast.MappingNode, into reflect.Value, key string) {
	fields := sectionFields(into.Type())
	known := slices.Sorted(keysOf(fields))
	for name, value := range d.keys(node, key, known) {
		f := fields[name]
		path := joinKey(key, name)
		if f.inline {
			d.decodeElement(value, into.FieldByIndex(f.Index), path)
			continue
		}
		d.decode(value, into.FieldByIndex(f.Index), path)
		if !d.bad[path] {
			d.checkTags(value, tagged{into.FieldByIndex(f.Index), f.Tag}, path)
		}
	}
}

// decodeMap fills a map, whose keys may be any word; a tag may know better.
func (d *configDecoder) decodeMap(node *ast.MappingNode, into reflect.Value, key string) {
	for name, value := range d.keys(node, key, nil) {
		d.decodeElement(value, into, joinKey(key, name))
	}
}

// decodeElement adds the value at a key to a map, under the last word of the key.
func (d *configDecoder) decodeElement(node ast.Node, into reflect.Value, key string) {
	element := reflect.New(into.Type().Elem()).Elem()
	d.decode(node, element, key)
	if into.IsNil() {
		into.Set(reflect.MakeMap(into.Type()))
	}
	into.SetMapIndex(reflect.ValueOf(d.names[key]), element)
}

// keys are the keys of a mapping, each once. Double ones are reported, and unknown ones
// where only the known may be.
func (d *configDecoder) keys(node *ast.MappingNode, key string, known []string) iter.Seq2[string, ast.Node] {
	return func(yield func(string, ast.Node) bool) {
		first := map[string]filePlace{}
		for _, v := range node.Values {
			name, ok := keyText(v.Key)
			if !ok {
				d.failAt(nodePlace(v.Key), ConfigError{Key: key, Fix: "write the keys out",
					Problem: "anchors, merges and keys that are no plain words are not supported"})
				continue
			}
			if d.newKey(v, joinKey(key, name), first) && d.knownKey(v, key, known) && !yield(name, v.Value) {
				return
			}
		}
	}
}

func keyText(key ast.MapKeyNode) (string, bool) {
	switch k := key.(type) {
	case *ast.StringNode:
		return k.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode:
		return k.GetToken().Value, true
	}
	return "", false
}

// decodeList fills a list; each element is at key[i].
func (d *configDecoder) decodeList(node *ast.SequenceNode, into reflect.Value, key string) {
	if into.Kind() != reflect.Slice {
		d.reject(node, key, misfit{problem: "is a list", fix: "must be "+expected(into.Type())})
		return
	}
	list := reflect.MakeSlice(into.Type(), len(node.Values), len(node.Values))
	for i, value := range node.Values {
		path := fmt.Sprintf("%s[%d]", key, i)
		d.at[path] = nodePlace(value)
		if m, ok := value.(*ast.MappingNode); ok && len(m.Values) > 0 && !m.IsFlowStyle {
			d.at[path] = nodePlace(m.Values[0].Key) // a mapping's own token is its first colon
		}
		d.decodeFresh(value, list.Index(i), path)
	}
	into.Set(list)
}

// decodeText fills a value from a scalar, its variables expanded.
func (d *configDecoder) decodeText(node ast.Node, into reflect.Value, key string) {
	parse := textParsers[into.Type()]
	if parse == nil {
		d.reject(node, key, misfit{problem: "is one value", fix: "must be "+expected(into.Type())})
		return
	}
	raw := rawText(node)
	d.raw[key] = raw
	text, misfit := expandVariables(raw, d.getenv)
	if misfit != nil {
		d.rejectText(node, into.Type(), key, *misfit)
		return
	}
	value, misfit := parse(text)
	if misfit == nil {
		into.Set(reflect.ValueOf(value))
		return
	}
	if text != raw {
		misfit.detail = ""
	}
	d.rejectText(node, into.Type(), key, *misfit)
}

// rejectText complains of a scalar. It shows the value as the file has it, never what a
// variable holds, and never a secret.
func (d *configDecoder) rejectText(node ast.Node, t reflect.Type, key string, m misfit) {
	problem := m.problem
	if t != secretType {
		problem = fmt.Sprintf("%q %s", clipped(rawText(node)), problem)
		if m.detail != "" {
			problem += ": " + m.detail
		}
	}
	d.reject(node, key, problem, m.fix)
}

// rawText is a scalar as the file has it, without its quotes.
func rawText(node ast.Node) string {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value
	case *ast.LiteralNode:
		return n.Value.Value
	}
	if t := node.GetToken(); t != nil {
		return t.Value
	}
	return ""
}

func joinKey(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}

// expected describes what a value of the type is written as.
func expected(t reflect.Type) string {
	switch {
	case isSection(t) || t.Kind() == reflect.Map:
		return "a mapping: key: value"
	case t.Kind() == reflect.Slice:
		return "a list: [a, b]"
	case t.Kind() == reflect.Int:
		return "a whole number"
	case t.Kind() == reflect.Bool:
		return "true or false"
	}
	return "one value" + strings.TrimRight(" "+typeExamples[t], " ")
}
