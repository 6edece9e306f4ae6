package guards

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"
)

// A source is one file of the program with its marks.
type source struct {
	file  string // from the root
	text  []byte
	set   *token.FileSet
	tree  *ast.File
	marks []mark
}

// A mark is a guard with what it stands above.
type mark struct {
	Guard
	node ast.Node   // the first of them
	all  []ast.Node // elements of one line stand under one mark
}

// read parses a file and finds its marks. Errors name file and line.
func (rows table) read(file string, text []byte) (*source, error) {
	s := &source{file: file, text: text, set: token.NewFileSet()}
	tree, err := parser.ParseFile(s.set, file, text, parser.ParseComments)
	if err != nil {
		return nil, fmt.Errorf("read the guards of %s: %w", file, err)
	}
	s.tree = tree
	var errs []error
	for _, group := range tree.Comments {
		below := s.set.Position(group.End()).Line + 1
		for _, c := range group.List {
			errs = append(errs, s.mark(rows, c, below))
		}
	}
	return s, errors.Join(errs...)
}

// mark adds the mark in a comment, if there is one.
func (s *source) mark(rows table, c *ast.Comment, below int) error {
	text, found := strings.CutPrefix(c.Text, prefix)
	if !found {
		return nil
	}
	at := s.set.Position(c.Pos())
	g, err := rows.parse(text)
	if err != nil {
		return fmt.Errorf("%s:%d: %w", s.file, at.Line, err)
	}
	nodes, in := s.under(below)
	if len(nodes) == 0 {
		return fmt.Errorf("%s:%d: guard %s: no statement, case or element begins in the line below", s.file, at.Line, g.Name)
	}
	g.File, g.Line, g.Func = s.file, below, in
	s.marks = append(s.marks, mark{g, nodes[0], nodes})
	return nil
}

// under is the outermost statement or case that begins in a line, or the elements that do,
// and the name of the function around them.
func (s *source) under(line int) (found []ast.Node, in string) {
	ast.Inspect(s.tree, func(n ast.Node) bool {
		if n == nil || !markable(n) || s.set.Position(n.Pos()).Line != line {
			return n != nil
		}
		if _, element := n.(*ast.KeyValueExpr); element || len(found) == 0 {
			found = append(found, n)
		}
		return false
	})
	if len(found) == 0 {
		return nil, ""
	}
	for _, d := range s.tree.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Pos() <= found[0].Pos() && found[0].End() <= f.End() {
			in = f.Name.Name
		}
	}
	return found, in
}

// markable reports whether a mark may stand above a node of this kind.
func markable(n ast.Node) bool {
	switch n.(type) {
	case *ast.BlockStmt, *ast.LabeledStmt, *ast.EmptyStmt:
		return false
	case ast.Stmt, *ast.KeyValueExpr:
		return true
	}
	return false
}

// pkg is the name of the file's package.
func (s *source) pkg() string { return s.tree.Name.Name }

// folder is where the file is, from the root.
func (s *source) folder() string { return path.Dir(s.file) }
