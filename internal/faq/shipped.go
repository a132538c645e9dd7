package faq

import _ "embed"

//go:embed shop/faq.yaml
var shopEntries []byte

// Shipped returns the entries that come with the program: those of a shop for furniture
// and household goods.
func Shipped() ([]Entry, error) { return ReadYAML("faq.yaml", shopEntries) }
