package api

import (
	"context"
	"slices"
	"time"

	"sluice/internal/chat"
)

// typingEvery is the shortest time between two signs of one socket that its customer types.
const typingEvery = time.Second

// endedKept is how many ended tickets a socket remembers: a sign that their answers are
// in the making may come after the answer itself.
const endedKept = 8

// keys is what one socket tells of its customer's typing. It belongs to the reader.
type keys struct {
	at time.Time // of the last sign
	on bool
}

// typed tells the session's other sockets, on every node, that the customer types or has
// ceased to. More than one sign in typingEvery is left out: a client gives it again while
// the customer goes on.
func (k *socket) typed(on bool) {
	now := time.Now()
	if on && now.Sub(k.keys.at) < typingEvery || !on && !k.keys.on {
		return
	}
	if k.keys.on = on; on {
		k.keys.at = now
	}
	sign := chat.Typing{Who: chat.ByCustomer, From: k.name}.On(on)
	if err := k.queue.SendTyping(k.tenant.Name, k.session, sign); err != nil {
		k.log.Debug().Err(err).Str("session", k.session).Msg("typing was not told")
	}
}

// signs is what a socket was told of typing. It belongs to the feed.
type signs struct {
	until map[chat.Who]time.Time
	ended []string // tickets, the newest last
}

// typing hands a sign on, unless it is the socket's own or its ticket has ended.
func (f *feed) typing(ctx context.Context, t chat.Typing) bool {
	if t.From == f.name || t.Ticket != "" && slices.Contains(f.signs.ended, t.Ticket) {
		return true
	}
	life := min(time.Duration(t.TTLMS)*time.Millisecond, chat.TypingLife)
	if life <= 0 {
		return f.still(ctx, t.Who)
	}
	if f.signs.until == nil {
		f.signs.until = map[chat.Who]time.Time{}
	}
	f.signs.until[t.Who] = time.Now().Add(life)
	return f.write(ctx, typingFrame{Type: "typing", Who: t.Who, TTLMS: life.Milliseconds()})
}

// settled takes back the signs that an event is the end of: a message of who was typing,
// the end of a ticket, another owner.
func (f *feed) settled(ctx context.Context, e chat.Event) bool {
	if e.Status.Ended() {
		f.signs.ended = append(f.signs.ended, e.Ticket)
		f.signs.ended = f.signs.ended[max(0, len(f.signs.ended)-endedKept):]
	}
	switch {
	case e.Who == chat.ByCustomer:
		return f.still(ctx, chat.ByCustomer)
	case e.Kind == chat.KindMessage, e.Kind == chat.KindOwner, e.Status.Ended():
		return f.still(ctx, chat.ByBot)
	}
	return true
}

// still says that somebody types no more, if the client believes otherwise.
func (f *feed) still(ctx context.Context, who chat.Who) bool {
	until, told := f.signs.until[who]
	if !told {
		return true
	}
	delete(f.signs.until, who)
	return time.Now().After(until) || f.write(ctx, typingFrame{Type: "typing", Who: who})
}
