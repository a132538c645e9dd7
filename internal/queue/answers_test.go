package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

// peers returns queues on the server of w, each with a connection of its own.
func (w *world) peers(n int) (all []*Queue, lines []*nats.Conn) {
	w.t.Helper()
	for range n {
		nc, err := w.server.Dial()
		if err != nil {
			w.t.Fatal(err)
		}
		q, err := Open(w.t.Context(), nc, w.cfg)
		if err != nil {
			w.t.Fatal(err)
		}
		all, lines = append(all, q), append(lines, nc)
	}
	w.t.Cleanup(func() {
		for _, nc := range lines {
			nc.Close()
		}
	})
	return all, lines
}

func kept(text string, fresh time.Duration) chat.Kept {
	now := time.Now()
	return chat.Kept{Reply: chat.Reply{Text: text}, MadeAt: now, FreshUntil: now.Add(fresh), GoneAt: now.Add(2 * fresh)}
}

// share works as a node does: it gets the answer that another one makes, or makes it.
func share(ctx context.Context, q *Queue, key string, work func() (chat.Kept, chat.Making)) (string, chat.Making, error) {
	for {
		end, err := q.ClaimAnswer(ctx, key)
		if err != nil {
			return "", "", err
		}
		if end != nil {
			k, how := work()
			if how == chat.MakingGiven {
				err = q.Keep(ctx, key, k)
			}
			end(how)
			return k.Reply.Text, how, err
		}
		k, how, err := q.FollowAnswer(ctx, key)
		if err != nil || how != chat.MakingLeft {
			return k.Reply.Text, how, err
		}
	}
}

func TestOfManyNodesOneWorksOnAnAnswerAndAllGetIt(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		nodes, _ := w.peers(3)
		var mu sync.Mutex
		made := 0
		var askers sync.WaitGroup
		for i := range 90 {
			askers.Go(func() {
				text, how, err := share(t.Context(), nodes[i%3], "demo.q", func() (chat.Kept, chat.Making) {
					mu.Lock()
					made++
					mu.Unlock()
					time.Sleep(20 * time.Second) // longer than a silent holder's claim stands
					return kept("yes", time.Hour), chat.MakingGiven
				})
				if text != "yes" || how != chat.MakingGiven || err != nil {
					t.Errorf("%q, %s, %v", text, how, err)
				}
			})
		}
		askers.Wait()
		if made != 1 {
			t.Errorf("made %d times", made)
		}
	})
}

func TestWhatCameToNothingOrIsForOneAloneIsNotWaitedFor(t *testing.T) {
	for how, stands := range map[chat.Making]time.Duration{chat.MakingFailed: failedFor, chat.MakingUnfit: unfitFor} {
		inBubble(t, nil, func(t *testing.T, w *world) {
			nodes, _ := w.peers(2)
			end, err := nodes[0].ClaimAnswer(t.Context(), "demo.q")
			if err != nil || end == nil {
				t.Fatal(err)
			}
			var follower sync.WaitGroup
			follower.Go(func() {
				if _, got, err := nodes[1].FollowAnswer(t.Context(), "demo.q"); got != how || err != nil {
					t.Errorf("the follower is told %s, %v", got, err)
				}
			})
			time.Sleep(100 * time.Millisecond)
			ended := time.Now()
			end(how)
			follower.Wait()
			if waited := time.Since(ended); waited > 100*time.Millisecond {
				t.Errorf("the follower waited %s", waited)
			}
			time.Sleep(stands - time.Second)
			if end, err := nodes[1].ClaimAnswer(t.Context(), "demo.q"); end != nil || err != nil {
				t.Errorf("claimed too soon, %v", err)
			}
			time.Sleep(3 * time.Second)
			end, err = nodes[1].ClaimAnswer(t.Context(), "demo.q")
			if end == nil || err != nil {
				t.Fatalf("not to be claimed again: %v", err)
			}
			end(chat.MakingLeft)
		})
	}
}

func TestWhatIsLeftIsTakenUpAtOnce(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		nodes, _ := w.peers(2)
		end, err := nodes[0].ClaimAnswer(t.Context(), "demo.q")
		if err != nil {
			t.Fatal(err)
		}
		var follower sync.WaitGroup
		began := time.Now()
		follower.Go(func() {
			text, _, err := share(t.Context(), nodes[1], "demo.q", func() (chat.Kept, chat.Making) {
				return kept("mine", time.Hour), chat.MakingGiven
			})
			if text != "mine" || err != nil || time.Since(began) > 2*time.Second {
				t.Errorf("%q after %s, %v", text, time.Since(began), err)
			}
		})
		time.Sleep(1500 * time.Millisecond)
		end(chat.MakingLeft)
		follower.Wait()
	})
}

func TestADeadHoldersClaimIsTakenOver(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		nodes, lines := w.peers(2)
		end, err := nodes[0].ClaimAnswer(t.Context(), "demo.q")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second) // renewed meanwhile
		if end, err := nodes[1].ClaimAnswer(t.Context(), "demo.q"); end != nil || err != nil {
			t.Fatalf("a living holder's claim is taken, %v", err)
		}
		lines[0].Close()
		died := time.Now()
		text, _, err := share(t.Context(), nodes[1], "demo.q", func() (chat.Kept, chat.Making) {
			return kept("mine", time.Hour), chat.MakingGiven
		})
		if took := time.Since(died); text != "mine" || err != nil || took > 6*time.Second {
			t.Errorf("%q after %s, %v", text, took, err)
		}
		end(chat.MakingGiven)
		if k, found, err := nodes[1].Kept(t.Context(), "demo.q"); !found || k.Reply.Text != "mine" || err != nil {
			t.Errorf("%+v, %v, %v", k, found, err)
		}
	})
}

func TestAFollowerLeavesInItsOwnTime(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		end, err := w.ClaimAnswer(t.Context(), "demo.q")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3500*time.Millisecond)
		defer cancel()
		began := time.Now()
		if _, _, err := w.FollowAnswer(ctx, "demo.q"); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 3500*time.Millisecond {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		end(chat.MakingLeft)
	})
}

func TestAKeptAnswerGoesInItsTime(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		if err := w.Keep(t.Context(), "demo.q", kept("yes", time.Minute)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2*time.Minute - time.Second)
		if k, found, err := w.Kept(t.Context(), "demo.q"); !found || k.Reply.Text != "yes" || err != nil {
			t.Errorf("%+v, %v, %v", k, found, err)
		}
		time.Sleep(time.Second)
		if _, found, err := w.Kept(t.Context(), "demo.q"); found || err != nil {
			t.Errorf("it is there, %v", err)
		}
		if _, found, err := w.Kept(t.Context(), "other.q"); found || err != nil {
			t.Errorf("another tenant has it, %v", err)
		}
		long := kept(strings.Repeat("x", maxAnswer), time.Hour)
		if err := w.Keep(t.Context(), "demo.long", long); !errors.Is(err, ErrTooLarge) {
			t.Errorf("a long one: %v", err)
		}
	})
}

func TestTheOldestAnswersGoWhereThereAreTooMany(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		stream, err := w.js.Stream(t.Context(), "KV_"+answerBucket)
		if err != nil {
			t.Fatal(err)
		}
		conf := stream.CachedInfo().Config
		if conf.MaxMsgs != maxAnswers || conf.Discard != jetstream.DiscardOld || conf.AllowDirect {
			t.Errorf("%+v", conf)
		}
		conf.MaxMsgs = 5
		if _, err := w.js.UpdateStream(t.Context(), conf); err != nil {
			t.Fatal(err)
		}
		for i := range 8 {
			if err := w.Keep(t.Context(), fmt.Sprintf("demo.%d", i), kept("yes", time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		for i := range 8 {
			if _, found, err := w.Kept(t.Context(), fmt.Sprintf("demo.%d", i)); found != (i >= 3) || err != nil {
				t.Errorf("answer %d: %v, %v", i, found, err)
			}
		}
	})
}
