package config

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml/ast"
)

// A jsonSchema holds a file against the schema for editors. It knows the words that this
// schema has, and panics at any other, so that none is passed over.
type jsonSchema struct {
	root map[string]any
}

func readSchema(t testing.TB) jsonSchema {
	t.Helper()
	text, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	s := jsonSchema{}
	if err := json.Unmarshal(text, &s.root); err != nil {
		t.Fatal(err)
	}
	return s
}

// refuses says what the schema has against the file, "" when it has nothing. A file and the
// schema differ on purpose in two ways, which are allowed for: a scalar is read by its text,
// whatever type YAML gives it (token: 123, per_pass: "20"), and a key without a value is as
// good as none.
func (s jsonSchema) refuses(node ast.Node) string { return s.against(s.root, node, "") }

func (s jsonSchema) against(schema map[string]any, node ast.Node, at string) string {
	for _, word := range []string{"$ref", "anyOf", "enum", "const", "type", "pattern", "required", "properties", "items",
		"propertyNames", "minimum", "exclusiveMinimum", "exclusiveMaximum"} {
		if _, has := schema[word]; !has {
			continue
		}
		if why := s.word(word, schema, node); why != "" {
			return strings.TrimPrefix(at+": "+why, ": ")
		}
	}
	return s.inside(schema, node, at)
}

// word checks one word of a schema. What is inside of mappings and lists is another matter.
func (s jsonSchema) word(word string, schema map[string]any, node ast.Node) string {
	text, scalar := scalarOf(node)
	number, _ := strconv.ParseFloat(text, 64)
	limit, _ := strconv.ParseFloat(fmt.Sprint(schema[word]), 64)
	wrong := false
	switch word {
	case "$ref":
		return s.against(s.definition(schema[word].(string)), node, "")
	case "anyOf":
		return s.anyOf(schema[word].([]any), node)
	case "enum":
		wrong = !slices.ContainsFunc(schema[word].([]any), func(v any) bool { return scalar && fmt.Sprint(v) == text || v == nil && isNull(node) })
	case "const":
		wrong = !scalar || fmt.Sprint(schema[word]) != text
	case "type":
		wrong = !ofType(schema[word].(string), node)
	case "pattern":
		wrong = !scalar || !regexp.MustCompile(schema[word].(string)).MatchString(text)
	case "minimum":
		wrong = number < limit
	case "exclusiveMinimum":
		wrong = number <= limit
	case "exclusiveMaximum":
		wrong = number >= limit
	}
	if wrong {
		return fmt.Sprintf("%q is not %s %v", text, word, schema[word])
	}
	return ""
}

func (s jsonSchema) definition(ref string) map[string]any {
	return s.root["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
}

func (s jsonSchema) anyOf(all []any, node ast.Node) string {
	var whys []string
	for _, one := range all {
		why := s.against(one.(map[string]any), node, "")
		if why == "" {
			return ""
		}
		whys = append(whys, why)
	}
	return strings.Join(whys, ", and ")
}

// inside goes into mappings and lists.
func (s jsonSchema) inside(schema map[string]any, node ast.Node, at string) string {
	if list, ok := node.(*ast.SequenceNode); ok && schema["items"] != nil {
		for i, value := range list.Values {
			if why := s.against(schema["items"].(map[string]any), value, fmt.Sprintf("%s[%d]", at, i)); why != "" {
				return why
			}
		}
	}
	entries, ok := entriesOf(node)
	if !ok {
		return ""
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, value := range entries {
		if isNull(value) {
			continue
		}
		if why := s.property(schema, properties, name, value); why != "" {
			return joinKey(at, name) + ": " + why
		}
	}
	for _, name := range asList(schema["required"]) {
		if _, has := entries[name.(string)]; !has {
			return at + " lacks " + name.(string)
		}
	}
	return ""
}

func (s jsonSchema) property(schema, properties map[string]any, name string, value ast.Node) string {
	if names, ok := schema["propertyNames"].(map[string]any); ok && !slices.Contains(names["enum"].([]any), any(name)) {
		return "is no name that is known"
	}
	if known, ok := properties[name].(map[string]any); ok {
		return s.against(known, value, "")
	}
	switch more := schema["additionalProperties"].(type) {
	case bool:
		if !more {
			return "is no key that is known"
		}
	case map[string]any:
		return s.against(more, value, "")
	}
	return ""
}

func asList(v any) []any {
	list, _ := v.([]any)
	return list
}

func ofType(kind string, node ast.Node) bool {
	text, scalar := scalarOf(node)
	_, mapping := entriesOf(node)
	_, list := node.(*ast.SequenceNode)
	switch kind {
	case "object":
		return mapping
	case "array":
		return list
	case "string":
		return scalar
	case "null":
		return isNull(node)
	case "boolean":
		return text == "true" || text == "false"
	case "integer":
		_, err := strconv.Atoi(text)
		return scalar && err == nil
	case "number":
		_, err := strconv.ParseFloat(text, 64)
		return scalar && err == nil
	}
	panic("a type that is not known: " + kind)
}

func isNull(node ast.Node) bool {
	_, null := node.(*ast.NullNode)
	return null
}

func scalarOf(node ast.Node) (string, bool) {
	switch node.(type) {
	case *ast.MappingNode, *ast.MappingValueNode, *ast.SequenceNode, *ast.NullNode:
		return "", false
	}
	return rawText(node), true
}

func entriesOf(node ast.Node) (map[string]ast.Node, bool) {
	var values []*ast.MappingValueNode
	switch n := node.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	default:
		return nil, false
	}
	out := map[string]ast.Node{}
	for _, v := range values {
		name, _ := keyText(v.Key)
		out[name] = v.Value
	}
	return out, true
}
