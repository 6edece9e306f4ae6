package config

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// eachMark stands in an entry for the one of its `each` that a copy is for.
const eachMark = "{each}"

// An item is one element of a list as it is read: an entry of the file with `each` is several.
type item struct {
	value ast.Node
	each  string // "" for an element that stands for itself
}

// items are the elements of a list: each once, and an entry of the providers once for each of its engines.
func (d *decoder) items(node *ast.SequenceNode, of reflect.Type, key string) (out []item) {
	for _, value := range node.Values {
		m, ok := value.(*ast.MappingNode)
		if !ok || of != reflect.TypeFor[ProviderConfig]() {
			out = append(out, item{value: value})
			continue
		}
		for _, each := range d.eachOf(m, fmt.Sprintf("%s[%d]", key, len(out))) {
			out = append(out, item{value, each})
		}
	}
	return out
}

// eachOf is what the entry is to be copied for; "" for one that is not. Of one that cannot be read there is a single
// copy, so that what else is wrong in it is told at the same time.
func (d *decoder) eachOf(m *ast.MappingNode, path string) []string {
	given := map[string]*ast.MappingValueNode{}
	for _, v := range m.Values {
		if name, ok := keyText(v.Key); ok && (name == "each" || name == "each_file") {
			given[name] = v
			d.at[joinKey(path, name)] = nodePlace(v.Key)
		}
	}
	before := len(d.errs)
	var values []string
	switch list, file := given["each"], given["each_file"]; {
	case list == nil && file == nil:
		return []string{""}
	case list != nil && file != nil:
		d.fail(joinKey(path, "each_file"), "is given together with each", "keep one of them")
	case list != nil:
		values = d.eachListed(list.Value)
	default:
		values = d.eachInFile(joinKey(path, "each_file"), file.Value)
	}
	if len(d.errs) == before && d.eachFits(path, given, values) {
		return values
	}
	return []string{"each"}
}

// eachListed are the words of `each`. What is wrong with one is told when the entry itself is read.
func (d *decoder) eachListed(value ast.Node) (out []string) {
	list, ok := value.(*ast.SequenceNode)
	if !ok {
		return nil
	}
	for _, one := range list.Values {
		word, _ := expandVariables(rawText(one), d.getenv)
		out = append(out, word)
	}
	return out
}

// eachInFile are the lines of a file, without those that are empty or begin with #.
func (d *decoder) eachInFile(key string, value ast.Node) (out []string) {
	name, _ := expandVariables(rawText(value), d.getenv)
	lines, err := readSecret(d.files.from(name))
	if err != nil {
		d.fail(key, err.Error(), "write one name a line into that file")
		d.bad[key] = true
		return nil
	}
	*d.files.have = append(*d.files.have, d.files.from(name))
	for line := range strings.Lines(lines) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return out
}

// eachFits reports whether copies can be made, and says what keeps them from it.
func (d *decoder) eachFits(path string, given map[string]*ast.MappingValueNode, values []string) bool {
	key := joinKey(path, "each")
	if given["each"] == nil {
		key = joinKey(path, "each_file")
	}
	if list := given["each"]; list != nil {
		if _, ok := list.Value.(*ast.SequenceNode); !ok {
			return false // told when the entry is read
		}
	}
	seen := map[string]bool{}
	for _, value := range values {
		switch {
		case !safeName.MatchString(value):
			d.fail(key, fmt.Sprintf("%q is not a name", clipped(value)), safeNameFix+
				"; what rows hold is `rows`, and may be any text")
		case seen[value]:
			d.fail(key, fmt.Sprintf("%q is given twice", clipped(value)), "remove it once")
		default:
			seen[value] = true
		}
	}
	if len(values) == 0 {
		d.fail(key, "names nothing, so that there is no entry", "name at least one, or remove the entry")
	}
	return len(values) > 0 && len(seen) == len(values)
}
