// Package formula holds the two small languages in which an operator describes somebody's
// API: an [Expression] reads an answer, a [Template] makes an address. Both are compiled
// when the config is read, and both are safe to run on whatever a hostile server answers.
//
// # Decisions
//
//   - 2026-11-21: expressions are those of expr-lang/expr, with the functions that take what is
//     given apart and none that makes much of little. Within a closure only the element at hand
//     may be named, so that a run takes time in proportion to the answer.
//   - 2026-11-21: a path such as metadata.name is read without the machine, and what is missing
//     on the way is nothing, not an error: listings are most of the work.
//   - 2026-11-21: whole numbers stay whole. One that is too large for arithmetic is its digits,
//     because ids are numbers at times.
package formula

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/types"
	"github.com/expr-lang/expr/vm"
)

// The bounds of an expression.
const (
	longest    = 2000      // bytes
	mostNodes  = 500       // of its tree
	mostMemory = 1_000_000 // elements that one run may make
)

// functions are those that an expression may use.
var functions = []string{
	"all", "none", "any", "one", "filter", "map", "find", "findIndex", "findLast", "count", "sum",
	"len", "type", "abs", "ceil", "floor", "round", "int", "float", "string", "trim", "trimPrefix", "trimSuffix",
	"upper", "lower", "split", "replace", "join", "indexOf", "lastIndexOf", "hasPrefix", "hasSuffix", "max", "min",
	"duration", "date", "first", "last", "get", "take", "keys", "values", "toPairs", "fromPairs", "concat", "flatten",
}

// scalars are the names of single values, which closures may use as well.
var scalars = []string{"status", "count", "page", "offset", "limit", "id", "task", "scope", "timeout"}

// An Expression reads one value out of an answer. It is safe for concurrent use.
type Expression struct {
	path    []string   // where it is nothing but a path
	fields  [][]string // that it names, as paths
	program *vm.Program
}

// Names are what an expression may name, each with a value of its type; nil stands for any
// type.
type Names map[string]any

func (n Names) types() types.Map {
	out := types.Map{}
	for name, v := range n {
		switch v.(type) {
		case int:
			out[name] = types.Int
		case string:
			out[name] = types.String
		default:
			out[name] = types.Any
		}
	}
	return out
}

// Compile compiles an expression over these names; nil: over any, which are the fields of
// what it is run on.
func Compile(text string, names Names) (*Expression, error) {
	if len(text) > longest {
		return nil, fmt.Errorf("is longer than %d bytes", longest)
	}
	tree, err := parser.Parse(text)
	if err != nil {
		return nil, mistake(err)
	}
	if err := bounded(&tree.Node); err != nil {
		return nil, err
	}
	options := []expr.Option{expr.MaxNodes(mostNodes)}
	if names != nil {
		options = append(options, expr.Env(names.types()))
	}
	program, err := expr.Compile(text, options...)
	if err != nil {
		return nil, mistake(err)
	}
	path, _ := pathOf(tree.Node)
	named := fields{}
	ast.Walk(&tree.Node, &named)
	return &Expression{path: path, fields: named, program: program}, nil
}

// mistake keeps the column and the words, and not the text of the expression, which may hold
// what a variable was expanded to.
func mistake(err error) error {
	var at *file.Error
	if errors.As(err, &at) {
		return fmt.Errorf("column %d: %s", at.Column+1, strings.Join(strings.Fields(at.Message), " "))
	}
	return err
}

// bounded refuses functions that are not known, and closures that look at more than their
// element: their work could grow with the square of an answer.
func bounded(tree *ast.Node) error {
	c := checks{}
	ast.Walk(tree, &c)
	return c.err
}

type checks struct{ err error }

// Visit checks one node.
func (c *checks) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.BuiltinNode:
		if !slices.Contains(functions, n.Name) {
			c.fail(n, "there is no function %s", n.Name)
		}
	case *ast.PredicateNode:
		ast.Walk(&n.Node, closure{c})
	}
}

func (c *checks) fail(at ast.Node, words, name string) {
	c.err = fmt.Errorf("column %d: "+words, at.Location().From+1, name)
}

type closure struct{ *checks }

// Visit checks one node of a closure.
func (c closure) Visit(node *ast.Node) {
	if name, ok := (*node).(*ast.IdentifierNode); ok && !slices.Contains(scalars, name.Value) {
		c.fail(name, "%s may not be used within a closure; use # or .field there", name.Value)
	}
}

// fields are the paths of a tree, each as far as it goes. A whole answer is none.
type fields [][]string

// Visit takes up one node; a longer path follows the beginning of it.
func (f *fields) Visit(node *ast.Node) {
	path, ok := pathOf(*node)
	if !ok || len(path) < 2 {
		return
	}
	if n := len(*f) - 1; n >= 0 && len((*f)[n]) <= len(path) && slices.Equal((*f)[n], path[:len((*f)[n])]) {
		*f = (*f)[:n]
	}
	*f = append(*f, path)
}

// pathOf is the path that an expression is, if it is one: a.b.c, or $env["a-b"].
func pathOf(node ast.Node) ([]string, bool) {
	switch n := node.(type) {
	case *ast.IdentifierNode:
		if n.Value == "$env" {
			return []string{}, true
		}
		return []string{n.Value}, true
	case *ast.ChainNode:
		return pathOf(n.Node)
	case *ast.MemberNode:
		key, named := n.Property.(*ast.StringNode)
		before, ok := pathOf(n.Node)
		if named && ok && !n.Method {
			return append(before, key.Value), true
		}
	}
	return nil, false
}

// Run is the expression's value: nil, bool, int, float64, string, []any, map[string]any, or
// a time or duration that it made. A nil expression's value is nil.
func (x *Expression) Run(env map[string]any) (any, error) {
	switch {
	case x == nil:
		return nil, nil
	case x.path != nil:
		v, _ := walk(env, x.path)
		return v, nil
	}
	machine := vm.VM{MemoryBudget: mostMemory}
	v, err := machine.Run(x.program, env)
	if err != nil {
		return nil, mistake(err)
	}
	return v, nil
}

// Present reports whether the expression is a path to a field that the answer has, be it as
// null. What is no path is never known to be there.
func (x *Expression) Present(env map[string]any) bool {
	if x == nil || x.path == nil {
		return false
	}
	_, there := walk(env, x.path)
	return there
}

// Speaks reports whether the answer has any of the fields that the expression names, be it as
// null: if none, then what the expression came to is not the answer's word.
func (x *Expression) Speaks(env map[string]any) bool {
	return x != nil && slices.ContainsFunc(x.fields, func(path []string) bool {
		_, there := walk(env, path)
		return there
	})
}

func walk(env map[string]any, path []string) (v any, there bool) {
	v = env
	for _, key := range path {
		fields, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		if v, there = fields[key]; !there {
			return nil, false
		}
	}
	return v, true
}

// Is reports whether the expression is given, can be run and is true.
func (x *Expression) Is(env map[string]any) bool {
	v, err := x.Run(env)
	yes, ok := v.(bool)
	return err == nil && ok && yes
}
