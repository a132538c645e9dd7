package chat

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestIDs(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 10_000 {
		for _, id := range []string{NewTicketID(), NewSessionID()} {
			if seen[id] || len(id) != 28 {
				t.Fatalf("id %s", id)
			}
			seen[id] = true
		}
	}
	id := NewTicketID()
	for text, c := range map[string]struct {
		is   func(string) bool
		want bool
	}{
		id:                       {IsTicketID, true},
		id[:27]:                  {IsTicketID, false},
		id + "A":                 {IsTicketID, false},
		id + "\n":                {IsTicketID, false},
		strings.ToLower(id):      {IsTicketID, false},
		"s" + id[1:]:             {IsTicketID, false},
		id[:27] + "1":            {IsTicketID, false},
		id[:27] + ".":            {IsTicketID, false},
		id[:27] + "*":            {IsTicketID, false},
		"":                       {IsTicketID, false},
		NewSessionID():           {IsSessionID, true},
		"a":                      {IsSessionID, true},
		"Shop_42-b":              {IsSessionID, true},
		strings.Repeat("a", 64):  {IsSessionID, true},
		strings.Repeat("a", 65):  {IsSessionID, false},
		"a.b":                    {IsSessionID, false},
		"a b":                    {IsSessionID, false},
		"a>":                     {IsSessionID, false},
		"*":                      {IsSessionID, false},
		"a/b":                    {IsSessionID, false},
		"a\n":                    {IsSessionID, false},
		"会话":                     {IsSessionID, false},
		"shop-42":                {IsTenantName, true},
		strings.Repeat("a", 32):  {IsTenantName, true},
		strings.Repeat("ab", 17): {IsTenantName, false},
		"Shop":                   {IsTenantName, false},
		"shop_42":                {IsTenantName, false},
		"shop\n":                 {IsTenantName, false},
		"shop.eu":                {IsTenantName, false},
	} {
		if got := c.is(text); got != c.want {
			t.Errorf("%q: %v, want %v", text, got, c.want)
		}
	}
}

func TestLanesAreInTheirOrder(t *testing.T) {
	t.Parallel()
	for i, lane := range Lanes() {
		if lane.Rank() != 4-i || !lane.Valid() || lane.Interactive() != (i < 3) {
			t.Errorf("%s: rank %d, valid %v, interactive %v", lane, lane.Rank(), lane.Valid(), lane.Interactive())
		}
	}
	for _, no := range []Lane{"", "High", "urgent", "high "} {
		if no.Valid() || no.Rank() != -1 || no.Interactive() {
			t.Errorf("%q is a lane", no)
		}
	}
}

func TestAnErrorShowsItsKindThroughWrapping(t *testing.T) {
	t.Parallel()
	cause := errors.New("cause")
	err := fmt.Errorf("submit: %w", &Error{Kind: Overloaded, Code: "queue_full", Field: "lane", Detail: "try later", Err: cause})
	if KindOf(err) != Overloaded || !errors.Is(err, cause) || err.Error() != "submit: queue_full (lane): try later: cause" {
		t.Errorf("%v, kind %d", err, KindOf(err))
	}
	if KindOf(cause) != Internal || KindOf(nil) != Internal {
		t.Error("an error without a kind is not internal")
	}
	if got := Bad("max_wait", "must be at least %s", "1s").Error(); got != "invalid (max_wait): must be at least 1s" {
		t.Error(got)
	}
}

func TestNewKeysOpenAndOldOnesDoNot(t *testing.T) {
	t.Parallel()
	var tenant Tenant
	old, fresh := NewKeys(), NewKeys()
	tenant.SetKeys(old)
	tenant.SetKeys(fresh)
	if tenant.SecretHash != HashKey(fresh.Secret) || tenant.PublicHash != HashKey(fresh.Publishable) || tenant.Publishable != fresh.Publishable {
		t.Errorf("%+v", tenant)
	}
	if old == fresh || !strings.HasPrefix(fresh.Secret, "sk_") || !strings.HasPrefix(fresh.Publishable, "pk_") || len(HashKey("")) != 64 {
		t.Errorf("%+v", fresh)
	}
	if strings.Contains(fmt.Sprintf("%+v", tenant), fresh.Secret) {
		t.Error("the secret key is stored")
	}
}
