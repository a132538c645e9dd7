package load

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"sluice/internal/chat"
)

// found is what the log of a session showed that should not be.
type found struct {
	lost    int  // messages that were acknowledged and are not there
	doubled int  // messages, and ends, that are there more than once
	unended int  // messages without an end
	gaps    int  // events, in the log or on the socket, whose seq is not the next
	untold  bool // the socket was told something else
	unread  bool // the log could not be read, or not to its end
	fail    string
}

// checkAll reads the log of each session.
func (r *socketRun) checkAll(ctx context.Context) {
	each(ctx, reads, r.all, func(k *talker) {
		if k.welcomed {
			k.inspect(ctx)
		}
		r.counts.inspected.Add(1)
	})
}

// inspect compares a session's log with what was sent and what was heard.
func (k *talker) inspect(ctx context.Context) {
	stored, ends, log, err := k.readLog(ctx)
	if err != nil {
		k.found.unread, k.found.fail = true, err.Error()
		return
	}
	k.found.gaps = log.gaps + log.repeated + k.heard.gaps + k.heard.repeated
	k.found.untold = !k.gone && (log.seq != k.heard.seq || log.sum != k.heard.sum)
	for i := range k.said {
		s := &k.said[i]
		n := stored[strconv.Itoa(i)]
		k.found.doubled += max(n-1, 0)
		switch {
		case s.code != "":
			k.found.doubled += n // refused for good, and there all the same
		case s.acked && n == 0:
			k.found.lost++
		case s.acked && ends[s.ticket] == 0:
			k.found.unended++
		case s.acked:
			k.found.doubled += ends[s.ticket] - 1
		}
	}
}

// readLog counts the customer's messages by cmid and the ends by ticket.
func (k *talker) readLog(ctx context.Context) (stored, ends map[string]int, log told, err error) {
	stored, ends = map[string]int{}, map[string]int{}
	for try := 0; ; {
		at := fmt.Sprintf("%s/v1/sessions/%s/events?after=%d", k.client.base, url.PathEscape(k.session), log.seq)
		var p page
		if err := k.client.call(ctx, call{method: http.MethodGet, url: at, key: k.token}, &p); err != nil {
			if try++; try == readTries || !pause(ctx, delay(err, tryAgain<<try)) {
				return nil, nil, log, err
			}
			continue
		}
		before := log.seq
		for _, e := range p.Events {
			log.take(e.Seq, e.Ticket, e.CMID, e.Status)
			if e.Who == chat.ByCustomer && e.CMID != "" {
				stored[e.CMID]++
			}
			if e.Status.Ended() {
				ends[e.Ticket]++
			}
		}
		if log.seq >= p.Head || log.seq <= before {
			return stored, ends, log, nil
		}
	}
}
