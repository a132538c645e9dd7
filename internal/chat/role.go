package chat

import "slices"

// Role says what an operator may do. A role includes those before it.
type Role string

// The roles, least first.
const (
	Viewer   Role = "viewer"   // reads everything but secrets
	Operator Role = "operator" // also steers what runs and answers: lanes, tickets, breakers, knowledge
	Admin    Role = "admin"    // also changes rules, tenants, keys, tokens and operators
)

// Roles returns all roles, least first.
func Roles() []Role { return []Role{Viewer, Operator, Admin} }

// Includes reports whether whoever has r may do what needs the other role. What is no role
// includes nothing, and is included by none.
func (r Role) Includes(other Role) bool {
	all := Roles()
	own, needed := slices.Index(all, r), slices.Index(all, other)
	return needed >= 0 && own >= needed
}
