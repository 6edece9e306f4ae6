package config

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// A decoder fills Go values from YAML nodes and reports every mistake that it
// meets; a library's strict mode would stop at the first.
type decoder struct {
	*report
	getenv func(string) (string, bool)
	files  secretFiles // where a file that the config names is found
	each   string      // what {each} stands for in the entry that is read; "" elsewhere
}

// decodeFresh is decode into a value that gets its defaults before.
func (d *decoder) decodeFresh(node ast.Node, into reflect.Value, key string) {
	if v, ok := into.Addr().Interface().(interface{ setDefaults() }); ok {
		v.setDefaults()
	}
	d.decode(node, into, key)
}

// decode fills one value. A section that holds nothing, often because all of it is
// commented out, is as good as not given.
func (d *decoder) decode(node ast.Node, into reflect.Value, key string) {
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

func (d *decoder) reject(node ast.Node, key string, m misfit) {
	d.failAt(nodePlace(node), Error{Key: key, Problem: m.problem, Fix: m.fix})
	d.bad[key] = true
}

func (d *decoder) decodeMapping(node *ast.MappingNode, into reflect.Value, key string) {
	switch {
	case isSection(into.Type()):
		d.decodeSection(node, into, key)
	case into.Kind() == reflect.Map:
		d.decodeMap(node, into, key)
	default:
		d.reject(node, key, misfit{problem: "is a mapping", fix: "must be " + expected(into.Type())})
	}
}

// An entry is one key of a mapping with its value.
type entry struct {
	name, path string // "owns", "providers[0].owns"
	value      ast.Node
}

// decodeSection fills a struct, whose tags name the keys.
func (d *decoder) decodeSection(node *ast.MappingNode, into reflect.Value, key string) {
	fields := sectionFields(into.Type())
	for _, e := range d.entries(node, key, slices.Sorted(keysOf(fields))) {
		f := fields[e.name]
		value := into.FieldByIndex(f.Index)
		if f.inline {
			d.decodeElement(e, value)
			continue
		}
		d.decode(e.value, value, e.path)
		if !d.bad[e.path] {
			d.checkTags(e, value, f.Tag)
		}
	}
}

// decodeMap fills a map, whose keys may be any word; a tag may know better.
func (d *decoder) decodeMap(node *ast.MappingNode, into reflect.Value, key string) {
	for _, e := range d.entries(node, key, nil) {
		d.decodeElement(e, into)
	}
}

// decodeElement adds an entry to a map.
func (d *decoder) decodeElement(e entry, into reflect.Value) {
	element := reflect.New(into.Type().Elem()).Elem()
	d.decode(e.value, element, e.path)
	if into.IsNil() {
		into.Set(reflect.MakeMap(into.Type()))
	}
	into.SetMapIndex(reflect.ValueOf(e.name), element)
}

// entries are the keys of a mapping, each once. Double ones are reported, and unknown
// ones where only the known may be.
func (d *decoder) entries(node *ast.MappingNode, key string, known []string) []entry {
	out := make([]entry, 0, len(node.Values))
	first := map[string]filePlace{}
	for _, v := range node.Values {
		name, ok := keyText(v.Key)
		e, at := entry{name, joinKey(key, name), v.Value}, nodePlace(v.Key)
		switch before, twice := first[name]; {
		case !ok:
			d.failAt(at, Error{Key: key, Fix: "write the keys out",
				Problem: "anchors, merges and keys that are no plain words are not supported"})
			continue
		case twice:
			d.failAt(at, Error{Key: e.path, Problem: "is given twice",
				Fix: fmt.Sprintf("remove it here or in line %d", before.line)})
			continue
		case known != nil && !slices.Contains(known, name):
			problem, fix := unknownWord("key", name, known)
			d.failAt(at, Error{Key: key, Problem: problem, Fix: fix})
		default:
			d.at[e.path] = at
			out = append(out, e)
		}
		first[name] = at
	}
	return out
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
func (d *decoder) decodeList(node *ast.SequenceNode, into reflect.Value, key string) {
	if into.Kind() != reflect.Slice {
		d.reject(node, key, misfit{problem: "is a list", fix: "must be " + expected(into.Type())})
		return
	}
	items := d.items(node, into.Type().Elem(), key)
	list := reflect.MakeSlice(into.Type(), len(items), len(items))
	outer := d.each
	for i, item := range items {
		path := fmt.Sprintf("%s[%d]", key, i)
		d.at[path] = itemPlace(item.value)
		d.each = cmp.Or(item.each, outer)
		d.decodeFresh(item.value, list.Index(i), path)
	}
	d.each = outer
	into.Set(list)
}

func itemPlace(value ast.Node) filePlace {
	if m, ok := value.(*ast.MappingNode); ok && len(m.Values) > 0 && !m.IsFlowStyle {
		return nodePlace(m.Values[0].Key) // a mapping's own token is its first colon
	}
	return nodePlace(value)
}

// decodeText fills a value from a scalar, its variables expanded.
func (d *decoder) decodeText(node ast.Node, into reflect.Value, key string) {
	parse := textParsers[into.Type()]
	if parse == nil {
		d.reject(node, key, misfit{problem: "is one value", fix: "must be " + expected(into.Type())})
		return
	}
	raw := rawText(node)
	if d.each != "" {
		raw = strings.ReplaceAll(raw, eachMark, d.each)
	}
	d.raw[key] = raw
	text, misfit := expandVariables(raw, func(name string) (string, bool) {
		value, set := d.getenv(name)
		d.held[key] = append(d.held[key], value)
		return value, set
	})
	if misfit != nil {
		d.reject(node, key, misfit.of(raw, into.Type()))
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
	d.reject(node, key, misfit.of(raw, into.Type()))
}

// of shows the value with the problem: as the file has it, never what a variable holds,
// and never a secret.
func (m misfit) of(raw string, t reflect.Type) misfit {
	if t == secretType || t == notifyType {
		return m
	}
	m.problem = fmt.Sprintf("%q %s", clipped(raw), m.problem)
	if m.detail != "" {
		m.problem += ": " + m.detail
	}
	return m
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
