package rules

import (
	"errors"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestNumbersArePutInPlaceAndTheRestKeepsItsText(t *testing.T) {
	t.Parallel()
	next, err := WithNumbers(Default(), map[string]string{
		"lanes.high.bound": "7", "lanes.deferred.max_wait": "1h30m", "valve.levels[1].depth": "0.7", "retention.tickets": "30d",
	})
	if err != nil {
		t.Fatal(err)
	}
	was, is := strings.Split(string(Default()), "\n"), strings.Split(string(next), "\n")
	different := 0
	for i := range was {
		if was[i] != is[i] {
			different++
		}
	}
	r, err := Parse("rules", next)
	if err != nil || len(was) != len(is) || different != 4 {
		t.Fatalf("%v; %d lines of %d are different, want 4", err, different, len(is))
	}
	if r.Lanes["high"].Bound != 7 || r.Lanes["deferred"].MaxWait != 90*time.Minute || r.Valve.Levels[1].Depth != 0.7 || r.Retention.Tickets != 720*time.Hour {
		t.Errorf("%+v %+v", r.Lanes, r.Valve)
	}
}

// TestEveryNumberReadsAsItIsSpelled puts all of them into documents that have none, and
// into the shipped one: nothing changes.
func TestEveryNumberReadsAsItIsSpelled(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{"{}", "replicas: 1\n", string(Default())} {
		before, err := Parse("rules", []byte(doc))
		if err != nil {
			t.Fatal(err)
		}
		all := before.Numbers()
		if doc != string(Default()) {
			if _, err := WithNumbers([]byte(doc), map[string]string{"valve.levels[0].depth": "0.4"}); !errors.Is(err, ErrLayout) {
				t.Errorf("a level in a document without the list: %v", err)
			}
			maps.DeleteFunc(all, func(path, _ string) bool { return strings.HasPrefix(path, "valve.levels") })
		}
		next, err := WithNumbers([]byte(doc), all)
		if err != nil {
			t.Fatal(err)
		}
		after, err := Parse("rules", next)
		if err != nil || !reflect.DeepEqual(after, before) {
			t.Errorf("%v\n%+v became\n%+v", err, before, after)
		}
	}
}

func TestWhatIsNoNumberIsAFaultOfItsPath(t *testing.T) {
	t.Parallel()
	for path, value := range map[string]string{
		"lanes.high.bound": "many", "lanes.high.max_wait": "1 s}", "valve.urgent_share": "0.5, x", "lanes.low.bound": "0",
		"valve.levels[2].depth": "2", "vendors[0].quota": "3", "lanes.high.bound\n": "1",
	} {
		_, err := WithNumbers(Default(), map[string]string{path: value})
		if f := Faults(err); len(f) != 1 || f[0].Field != path {
			t.Errorf("%s: %s gave %v", path, value, err)
		}
	}
}
