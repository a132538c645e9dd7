package dispatcher

import (
	"sluice/internal/chat"
	"sluice/internal/queue"
)

// typing tells a ticket's session whether its answer is in the making. Where it is lost,
// or its sender dies, the sign ends by itself.
func (d *Dispatcher) typing(s *queue.Stored, on bool) {
	if !s.Lane.Interactive() {
		return // nobody sits and waits for it
	}
	sign := chat.Typing{Who: chat.ByBot, Ticket: s.ID}.On(on)
	if err := d.queue.SendTyping(s.Tenant, s.Session, sign); err != nil {
		d.log.Debug().Err(err).Str("ticket", s.ID).Msg("typing was not told")
	}
}
