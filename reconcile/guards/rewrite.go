package guards

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"strings"
)

// rewrite is the text of the file with a switch in each guard.
func (s *source) rewrite() ([]byte, error) {
	var all []insertion
	var errs []error
	for i := range s.marks {
		m := &s.marks[i]
		edits, err := s.switched(m)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s:%d: guard %s: %w", s.file, m.Line, m.Name, err))
		}
		all = append(all, edits...)
	}
	return insert(s.text, all), errors.Join(errs...)
}

// switched are the edits of one mark.
func (s *source) switched(m *mark) ([]insertion, error) {
	switch m.change.kind {
	case operand:
		return s.withoutOperand(m)
	case value:
		return s.otherValue(m)
	case whole:
		return s.otherWhole(m)
	}
	if m.change.x != "" {
		return nil, fmt.Errorf("`%s` is none of `-X`, `X => Y` and `= Y`", m.change.x)
	}
	return s.withoutAll(m)
}

// withoutAll lets a condition never hold and skips any other statement.
func (s *source) withoutAll(m *mark) ([]insertion, error) {
	if s.tagged(m.node) {
		return nil, errors.New("a case of a switch over a value has no condition: mark what stands in it")
	}
	if conditions, isOne := conditionsOf(m.node); isOne {
		var edits []insertion
		for _, c := range conditions {
			edits = append(edits, s.around(c, fmt.Sprintf("guardFires(%d, ", m.number), ")")...)
		}
		if len(edits) == 0 {
			return nil, errors.New("there is no condition to leave out")
		}
		return edits, nil
	}
	if a, ok := m.node.(*ast.AssignStmt); ok && a.Tok == token.DEFINE {
		return nil, errors.New("what it declares is needed: say what it is without the guard, with `= Y` or `X => Y`")
	}
	if _, ok := m.node.(ast.Stmt); !ok {
		return nil, errors.New("an element cannot be left out: say what it is without the guard, with `X => Y`")
	}
	return s.around(m.node, fmt.Sprintf("if guardRuns(%d) { ", m.number), " }"), nil
}

// tagged reports whether a node is a case of a switch over a value.
func (s *source) tagged(n ast.Node) bool {
	found := false
	ast.Inspect(s.tree, func(x ast.Node) bool {
		if over, ok := x.(*ast.SwitchStmt); ok && over.Tag != nil {
			for _, c := range over.Body.List {
				found = found || c == n
			}
		}
		return !found
	})
	return found
}

// conditionsOf are the conditions of an if, a for or a case.
func conditionsOf(n ast.Node) (conditions []ast.Expr, isOne bool) {
	switch n := n.(type) {
	case *ast.IfStmt:
		return []ast.Expr{n.Cond}, true
	case *ast.ForStmt:
		if n.Cond != nil {
			return []ast.Expr{n.Cond}, true
		}
	case *ast.CaseClause:
		return n.List, true
	}
	return nil, false
}

// withoutOperand leaves one operand out of a chain: || goes by the others, and so does &&.
func (s *source) withoutOperand(m *mark) ([]insertion, error) {
	wanted, err := canonical(m.change.x)
	if err != nil {
		return nil, err
	}
	var edits []insertion
	s.eachExpr(m.all, func(e ast.Expr) {
		chain, ok := e.(*ast.BinaryExpr)
		if !ok {
			return
		}
		call := map[token.Token]string{token.LOR: "guardFires", token.LAND: "guardHolds"}[chain.Op]
		for _, x := range []ast.Expr{chain.X, chain.Y} {
			if call != "" && printed(x) == wanted {
				edits = append(edits, s.around(x, fmt.Sprintf("%s(%d, ", call, m.number), ")")...)
			}
		}
	})
	if clause, ok := m.node.(*ast.CaseClause); ok {
		for _, x := range clause.List {
			if printed(x) == wanted {
				edits = append(edits, s.around(x, fmt.Sprintf("guardFires(%d, ", m.number), ")")...)
			}
		}
	}
	if len(edits) == 0 {
		return nil, fmt.Errorf("no operand of it reads %s", m.change.x)
	}
	return edits, nil
}

// otherValue gives each expression of this wording another value.
func (s *source) otherValue(m *mark) ([]insertion, error) {
	wanted, err := canonical(m.change.x)
	if err != nil {
		return nil, err
	}
	if _, err := canonical(m.change.y); err != nil {
		return nil, err
	}
	var edits []insertion
	s.eachExpr(m.all, func(e ast.Expr) {
		if printed(e) == wanted {
			edits = append(edits, s.around(e, fmt.Sprintf("guardElse(%d, ", m.number), ", "+m.change.y+")")...)
		}
	})
	if len(edits) == 0 {
		return nil, fmt.Errorf("no expression of it reads %s", m.change.x)
	}
	return edits, nil
}

// otherWhole puts other code in the place of a condition, of what is returned or assigned.
func (s *source) otherWhole(m *mark) ([]insertion, error) {
	y, n := m.change.y, m.number
	if conditions, isOne := conditionsOf(m.node); isOne && len(conditions) == 1 {
		return s.around(conditions[0], fmt.Sprintf("guardSwaps(%d, ", n), ", "+y+")"), nil
	}
	switch stmt := m.node.(type) {
	case *ast.ReturnStmt:
		return s.around(stmt, fmt.Sprintf("if !guardRuns(%d) { return %s }; ", n, y), ""), nil
	case *ast.ExprStmt:
		return s.around(stmt, fmt.Sprintf("if guardRuns(%d) { ", n), fmt.Sprintf(" } else { %s }", y)), nil
	case *ast.AssignStmt:
		names := make([]string, len(stmt.Lhs))
		for i, x := range stmt.Lhs {
			names[i] = printed(x)
		}
		return s.around(stmt, "", fmt.Sprintf("; if !guardRuns(%d) { %s = %s }", n, strings.Join(names, ", "), y)), nil
	}
	return nil, errors.New("`= Y` needs one condition, a call, a return or an assignment")
}

// eachExpr goes over the expressions of a node, but not into the blocks and cases under it.
func (s *source) eachExpr(nodes []ast.Node, do func(ast.Expr)) {
	for _, n := range nodes {
		s.exprs(n, do)
	}
}

func (s *source) exprs(n ast.Node, do func(ast.Expr)) {
	ast.Inspect(n, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.BlockStmt:
			return false
		case *ast.CaseClause:
			if x != n {
				return false
			}
		case ast.Stmt:
			if c, ok := n.(*ast.CaseClause); ok && x.Pos() > c.Colon {
				return false
			}
			if f, ok := n.(*ast.IfStmt); ok && x == f.Else {
				return false
			}
		case ast.Expr:
			do(x)
		}
		return true
	})
}

// canonical is how the printer writes an expression.
func canonical(code string) (string, error) {
	x, err := parser.ParseExpr(code)
	if err != nil {
		return "", fmt.Errorf("read `%s`: %w", code, err)
	}
	return printed(x), nil
}

func printed(x ast.Expr) string {
	var out strings.Builder
	if err := printer.Fprint(&out, token.NewFileSet(), x); err != nil {
		return "" // unreachable: a builder takes everything
	}
	return strings.Join(strings.Fields(out.String()), " ")
}
