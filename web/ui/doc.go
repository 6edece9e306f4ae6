// Package ui holds what pages are made of: cells, tables, blocks and the frame around them; the words for moments,
// numbers and levels; addresses, and the files that a browser takes besides. It knows no reading of the ledger: package
// web settles what a page says.
//
// All foreign texts go through [Name], [Line] or [Inline], which cut them and free them of control characters; the
// templates escape them.
package ui
