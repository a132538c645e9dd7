package rules

import (
	_ "embed"
	"fmt"
	"reflect"
	"slices"
	"sync"
)

//go:embed default.yaml
var shipped []byte

// Default returns the document that Sluice ships: what a first start without a rules
// file puts into force.
func Default() []byte { return slices.Clone(shipped) }

// Parse reads a document, fills in the defaults and checks it as a whole. The name
// appears in the faults. On any fault there are no rules; Faults takes the error apart.
//
// A key that is left out has its documented default; without vendors at all the shipped
// ones stand in, and with them come the shipped tools. The shipped intents are there unless
// they are switched off.
func Parse(name string, doc []byte) (*Rules, error) {
	return (&document{name: name, at: map[string]place{}}).rules(doc)
}

// completion is the rules that documents are completed from, once they were read. Rules are
// never changed, so documents may share parts of them.
var completion struct {
	sync.Once
	rules *Rules
	err   error
}

func shippedRules() (*Rules, error) {
	completion.Do(func() {
		d := &document{name: "default.yaml", at: map[string]place{}, shipped: true}
		completion.rules, completion.err = d.rules(shipped)
	})
	return completion.rules, completion.err
}

func (d *document) rules(doc []byte) (*Rules, error) {
	rules := builtin()
	if root := d.parse(doc); root != nil {
		d.decode(root, reflect.ValueOf(rules).Elem(), "")
	}
	if len(d.faults) > 0 && len(d.at) == 0 {
		return nil, d.err() // no YAML: nothing more to say
	}
	if err := d.complete(rules); err != nil {
		return nil, err
	}
	d.check(rules)
	if len(d.faults) > 0 {
		return nil, d.err()
	}
	rules.Intents = slices.DeleteFunc(rules.Intents, func(in Intent) bool { return in.Off })
	return rules, nil
}

// complete fills in what depends on the rest of the document.
func (d *document) complete(rules *Rules) error {
	_, hasVendors := d.at["vendors"]
	own := Rules{Vendors: rules.Vendors}
	if !d.shipped {
		base, err := shippedRules()
		if err != nil {
			return fmt.Errorf("read the shipped rules: %w", err)
		}
		own = *base
		d.completeIntents(rules, own.Intents)
	}
	if !hasVendors {
		rules.Vendors = own.Vendors
		if _, hasTools := d.at["tools"]; !hasTools {
			rules.Tools = own.Tools
		}
		if _, given := d.at["knowledge.shipped"]; !given {
			rules.Knowledge.Shipped = own.Knowledge.Shipped
		}
	}
	d.completeTenants(rules)
	for name, chain := range rules.Chains {
		if _, given := d.at["chains."+name+".vendors"]; given {
			continue
		}
		if hasVendors {
			chain.Vendors = names(rules.Vendors)
		} else {
			chain.Vendors = own.Chains[name].Vendors
		}
		rules.Chains[name] = chain
	}
	return nil
}

func names(vendors []Vendor) []string {
	var all []string
	for _, v := range vendors {
		all = append(all, v.Name)
	}
	return all
}
