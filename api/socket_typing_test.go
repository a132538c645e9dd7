package api

import (
	"testing"
	"time"

	"sluice/internal/chat"
)

// signs reads until a frame of a type comes, and returns the signs of typing up to it, itself
// included.
func (c *client) signs(until string) (signs []string, last frame) {
	c.t.Helper()
	for {
		f, err := c.next()
		must(c.t, err)
		if f.text("type") == "typing" {
			on := "off"
			if ttl := f.number("ttl_ms"); ttl > 0 && ttl <= 6000 {
				on = "on"
			}
			signs = append(signs, f.text("who")+" "+on)
		}
		if f.text("type") == until {
			return signs, f
		}
	}
}

func TestTypingIsSeenByTheOthersUntilTheMessage(t *testing.T) {
	t.Parallel()
	r := newSocketRig(t, SocketConfig{})
	one, welcome := r.hello(nil)
	two, _ := r.hello(again(welcome, 0))
	for range 3 { // more than one in a second are left out
		one.say(frame{"type": "typing", "on": true})
	}
	one.say(frame{"type": "send", "cmid": "a", "text": "hello"})
	signs, _ := two.signs("event")
	after, e := two.signs("typing")
	if len(signs) != 1 || signs[0] != "customer on" || after[0] != "customer off" {
		t.Errorf("the other tab saw %v, then %v %v", signs, after, e)
	}
	// It does not see itself.
	one.say(frame{"type": "ping"})
	if signs, _ := one.signs("pong"); len(signs) != 0 {
		t.Errorf("the tab itself saw %v", signs)
	}
	// The sign of a tab that goes away is taken back.
	two.say(frame{"type": "typing", "on": true})
	if f := one.hear("typing"); f.number("ttl_ms") != int(chat.TypingLife.Milliseconds()) {
		t.Errorf("sign %v", f)
	}
	must(t, two.conn.CloseNow())
	if f := one.hear("typing"); f.number("ttl_ms") != 0 {
		t.Errorf("sign of a tab that is gone: %v", f)
	}
}

func TestABotsTypingEndsWithItsAnswer(t *testing.T) {
	t.Parallel()
	r := newSocketRig(t, SocketConfig{})
	c, welcome := r.hello(nil)
	c.say(frame{"type": "send", "cmid": "a", "text": "hello"})
	c.pair()
	job, s := r.take(chat.High)
	sign := func(ttl time.Duration) {
		must(t, r.queue.SendTyping("demo", welcome.text("session"), chat.Typing{Who: chat.ByBot, Ticket: s.ID, TTLMS: ttl.Milliseconds()}))
	}
	sign(time.Hour) // no sign lives longer than six seconds
	if signs, f := c.signs("typing"); signs[0] != "bot on" {
		t.Errorf("sign %v", f)
	}
	r.end(job, s)
	c.hear("event")
	if signs, f := c.signs("typing"); signs[0] != "bot off" {
		t.Errorf("after the answer: %v", f)
	}
	sign(chat.TypingLife) // late: another way than the answer's
	c.say(frame{"type": "ping"})
	c.hear("pong")
	must(t, r.engine.Flush())
	c.say(frame{"type": "ping"})
	if signs, _ := c.signs("pong"); len(signs) != 0 {
		t.Errorf("a late sign was shown: %v", signs)
	}
}
