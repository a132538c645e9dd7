package main

import (
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/password"
	"sluice/internal/queue"
)

// TestTheFirstOperatorIsWhatTheSettingsSay at each start, and generated once where they say
// nothing.
func TestTheFirstOperatorIsWhatTheSettingsSay(t *testing.T) {
	t.Parallel()
	srv, err := queue.StartServer(t.Context(), queue.ServerConfig{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Stop)
	nc, err := srv.Dial()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	bounds := map[chat.Lane]int{}
	for _, l := range chat.Lanes() {
		bounds[l] = 10
	}
	q, err := queue.Open(t.Context(), nc, queue.Config{Bounds: bounds, Fresh: true, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	start := func(given string) (o queue.Operator, generated string) {
		t.Helper()
		var out secrets
		if err := openAdmin(t.Context(), q, given, &out); err != nil {
			t.Fatal(err)
		}
		s, err := q.Staff(t.Context())
		o, found := s.Find(firstAdmin)
		if err != nil || !found || o.Role != chat.Admin {
			t.Fatalf("%+v, %v", s, err)
		}
		return o, out.adminPassword
	}
	first, generated := start("")
	if password.Check(generated) != "" || !strings.HasPrefix(first.Hash, "$argon2id$") {
		t.Errorf("%q, %+v", generated, first)
	}
	if again, shown := start(""); again.Hash != first.Hash || shown != "" {
		t.Errorf("a second start has changed it: %+v, shown %q", again, shown)
	}
	if same, shown := start(generated); same.Hash != first.Hash || same.Mark != first.Mark || shown != "" {
		t.Errorf("the same password has changed it: %+v, shown %q", same, shown)
	}
	given, _ := start("a given password")
	if fits, _, err := password.New().Verify(t.Context(), "a given password", given.Hash); !fits || err != nil || given.Mark == first.Mark {
		t.Errorf("it opens: %v (%v), its logins are those of the former one: %v", fits, err, given.Mark == first.Mark)
	}
	err = q.ChangeStaff(t.Context(), func(s *queue.Staff) error {
		s.Put(queue.NewOperator("mei", chat.Admin, first.Hash, first.CreatedAt))
		given.Role = chat.Viewer
		s.Put(given)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if back, _ := start("a given password"); back.Mark == given.Mark {
		t.Error("the logins of a viewer have become an admin's")
	}
}
