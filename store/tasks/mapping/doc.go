// Package mapping is the language in which a platform's table is described: which columns and
// statuses mean what, and how a row is changed; and the presets, mappings of platforms that are
// known. It is data: package tasks compiles a mapping to SQL, and refuses what is wrong in it.
package mapping
