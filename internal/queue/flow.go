package queue

import "sluice/internal/chat"

// flow is told what this process does to the lanes.
type flow struct {
	entered, ended func(*chat.Ticket) // nil: nobody is told
}

// OnFlow has entered told of each ticket that this process lets into its lane, and ended of
// each whose end it writes: once, unless the process dies in between. Neither may block. It
// comes before the first ticket.
func (q *Queue) OnFlow(entered, ended func(t *chat.Ticket)) { q.flow = flow{entered, ended} }

func (f flow) enter(t *chat.Ticket) {
	if f.entered != nil {
		f.entered(t)
	}
}

func (f flow) end(t *chat.Ticket) {
	if f.ended != nil {
		f.ended(t)
	}
}
