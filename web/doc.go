// Package web makes the status page.
//
// The page is made from one reading of the ledger and from nothing else. A pure function
// turns the reading into a view, in which every text, age and order is settled; the
// template only prints it. All texts of the ledger come from outside, so they are cut,
// freed of control characters and escaped. Package serve reads the ledger and answers
// those who ask.
//
// # Decisions
//
//   - 2026-11-21: addresses within the page are relative, so that it also works below a
//     path: behind a proxy, or through the API server of Kubernetes.
//   - 2026-11-21: ages are told of times of the ledger's clock alone. What another clock says
//     (evidence, a template's expiry) is shown as the time that it is.
package web
