package chat

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// AgainFor is how long a notice that an operator wants sent again may leave from then on.
const AgainFor = 24 * time.Hour

// maxRounds is how often a notice may be sent again whose message was taken and failed.
const maxRounds = 5

// SendAgain has a notice sent once more that failed or is unknown, within AgainFor from now
// on. False, and why: it must not be. What never reached a carrier waits to be sent at once;
// of anything else the carrier is asked first, and only where it says that it does not have
// the message, or that it failed, there is another one. The promise of a notice stays as
// broken as it is.
func (n *Notice) SendAgain(now time.Time) (why string, ok bool) {
	arrived := slices.ContainsFunc(n.Receipts, func(r Receipt) bool { return r.State == NoticeDelivered })
	switch {
	case n.State != NoticeFailed && n.State != NoticeUnknown:
		return "only one that failed, or of which nobody knows, is sent again; this one is " + string(n.State), false
	case n.Again:
		return "it is about to be sent again", false
	case arrived:
		return "its carrier has said that it arrived", false
	case n.Round >= maxRounds:
		return "it was sent again " + strconv.Itoa(n.Round) + " times already", false
	}
	left := n.State == NoticeUnknown || n.Carried != "" || len(n.Receipts) > 0
	n.Until, n.Again, n.Looks = now.Add(AgainFor), left, 0
	if left {
		n.Turn(NoticeUnknown, now)
	} else {
		n.Turn(NoticeQueued, now)
	}
	return "", true
}

// nextRound lets a notice wait to be sent whose message has failed.
func (n *Notice) nextRound(now time.Time) {
	if n.Carried != "" {
		n.Former = append(n.Former, n.Carried)
	}
	n.Round++
	n.Carried, n.Again, n.Fault = "", false, ""
	n.Turn(NoticeQueued, now)
}

// LeaveBy returns the instant after which a notice does not leave.
func (n *Notice) LeaveBy() time.Time {
	if n.Until.After(n.DueAt) {
		return n.Until
	}
	return n.DueAt
}

// Mark names a notice to its carrier, another way for each message of it that is taken.
func (n *Notice) Mark() string {
	if n.Round == 0 {
		return n.ID
	}
	return n.ID + "." + strconv.Itoa(n.Round)
}

// NoticeOf reads a mark; what is none is the id of a notice that there is not.
func NoticeOf(mark string) (id string, round int) {
	id, number, found := strings.Cut(mark, ".")
	if !found {
		return mark, 0
	}
	round, err := strconv.Atoi(number)
	if err != nil || round < 1 || round > maxRounds || number != strconv.Itoa(round) {
		return mark, 0
	}
	return id, round
}
