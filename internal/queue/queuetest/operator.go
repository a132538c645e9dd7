package queuetest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

// Operator vouches for accounts. Servers that trust it know those that Account made.
type Operator struct {
	t        testing.TB
	key      nkeys.KeyPair
	system   *Account
	resolver *server.MemAccResolver
}

// NewOperator makes an operator whose only account is that of the servers themselves.
func NewOperator(t testing.TB) *Operator {
	t.Helper()
	o := &Operator{t: t, key: pair(t, nkeys.CreateOperator), resolver: &server.MemAccResolver{}}
	o.system = o.Account("SYS", func(*jwt.AccountClaims) {})
	return o
}

// Options returns those of a server that trusts the operator.
func (o *Operator) Options() *server.Options {
	claims := jwt.NewOperatorClaims(public(o.t, o.key))
	claims.SystemAccount = o.system.ID
	return &server.Options{
		TrustedOperators: []*jwt.OperatorClaims{claims}, SystemAccount: o.system.ID, AccountResolver: o.resolver,
	}
}

// Account is one that an operator vouches for.
type Account struct {
	ID       string
	operator *Operator
	claims   *jwt.AccountClaims
	key      nkeys.KeyPair
}

// Account makes an account as change says, and lets the servers know of it.
func (o *Operator) Account(name string, change func(*jwt.AccountClaims)) *Account {
	o.t.Helper()
	a := &Account{operator: o, key: pair(o.t, nkeys.CreateAccount)}
	a.ID = public(o.t, a.key)
	a.claims = jwt.NewAccountClaims(a.ID)
	a.claims.Name = name
	a.Change(change)
	return a
}

// Change lets servers that start or look the account up from now on know of a change.
// It returns the account's claims, for those that run.
func (a *Account) Change(change func(*jwt.AccountClaims)) *jwt.AccountClaims {
	t := a.operator.t
	t.Helper()
	change(a.claims)
	token, err := a.claims.Encode(a.operator.key)
	if err == nil {
		err = a.operator.resolver.Store(a.ID, token)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a.claims
}

// Creds returns the credentials file of a new user, who is as change says, and the user's id.
func (a *Account) Creds(change func(*jwt.UserClaims)) (file, id string) {
	t := a.operator.t
	t.Helper()
	user := pair(t, nkeys.CreateUser)
	id = public(t, user)
	claims := jwt.NewUserClaims(id)
	change(claims)
	token, err := claims.Encode(a.key)
	if err != nil {
		t.Fatal(err)
	}
	seed, err := user.Seed()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jwt.FormatUserConfig(token, seed)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "user.creds")
	if err := os.WriteFile(file, doc, 0o600); err != nil {
		t.Fatal(err)
	}
	return file, id
}

func pair(t testing.TB, create func() (nkeys.KeyPair, error)) nkeys.KeyPair {
	t.Helper()
	key, err := create()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func public(t testing.TB, key nkeys.KeyPair) string {
	t.Helper()
	id, err := key.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return id
}
