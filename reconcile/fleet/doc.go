// Package fleet keeps what is read of a large fleet in little memory: a listing as what it adds to what the ledger
// remembers, and lists of which nobody knows how long they get. Who asks for a sandbox gets it whole, as it was put.
package fleet
