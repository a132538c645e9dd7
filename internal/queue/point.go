package queue

import "sluice/internal/chat"

// Point names one write in the life of a ticket, in the order of the life. A test
// stops the process at a point to prove that whoever comes next completes it.
type Point string

// The write points.
const (
	IntakeKey    Point = "intake.key"    // the idempotency key is claimed
	IntakeTicket Point = "intake.ticket" // the ticket is created as accepting
	IntakeLane   Point = "intake.lane"   // the message enters its lane: the acceptance
	IntakeEvent  Point = "intake.event"  // the customer's event enters the talk log
	IntakeQueued Point = "intake.queued" // the ticket becomes queued

	TakeTicket Point = "take.ticket" // queued becomes running, the attempt rises
	BackTicket Point = "back.ticket" // running becomes queued: handed back or handed on

	HandTicket Point = "hand.ticket" // an urgent ticket that no vendor takes goes to people, and waits on
	HandList   Point = "hand.list"   // it is listed for them
	HandEvent  Point = "hand.event"  // its customer is told
	HandOwner  Point = "hand.owner"  // the session's owner is the queue
	HandHook   Point = "hand.hook"   // the message about it enters the webhooks' outbox

	EndTicket Point = "end.ticket" // the ticket ends, with its whole reply
	EndHuman  Point = "end.human"  // its end becomes another one: a person took the session over before it was told
	EndEvent  Point = "end.event"  // the final event enters the talk log
	EndDead   Point = "end.dead"   // a job that we could not answer is kept as a dead letter
	EndHook   Point = "end.hook"   // the message to its callback_url enters the webhooks' outbox
	EndStory  Point = "end.story"  // the ended ticket is told to the recorder
	EndLane   Point = "end.lane"   // the lane message is acknowledged

	CancelTicket Point = "cancel.ticket"
	CancelEvent  Point = "cancel.event"
	CancelStory  Point = "cancel.story"
	CancelLane   Point = "cancel.lane" // the lane message is deleted

	RequeueLetter Point = "requeue.letter" // a dead letter goes, after its new ticket was accepted
)

// The writes of a deed that cannot be undone, in their order.
const (
	CommitTicket Point = "commit.ticket" // a running ticket sets out to do it
	ClaimMade    Point = "claim.claimed"
	ClaimCalled  Point = "claim.called" // before each call
	ClaimDone    Point = "claim.done"   // after the call
)

// ClaimPoint returns the write point of a claim's state.
func ClaimPoint(state chat.ClaimState) Point { return Point("claim." + string(state)) }

// The writes of a promise, besides those of its follow-up's ticket, in their order.
const (
	PromiseCount  Point = "promise.count"  // its text counts for the caps of its number, and then of its tenant
	PromiseOpen   Point = "promise.open"   // the promise is noted, before the end of the parent names it
	PromiseMade   Point = "promise.made"   // the customer's session is told of it
	PromiseAnswer Point = "promise.answer" // the follow-up's answer is noted
	PromiseTurn   Point = "promise.turn"   // it becomes met, sent, broken or cancelled
	PromiseOutbox Point = "promise.outbox" // the notice enters the outbox
	PromiseTold   Point = "promise.told"   // the session is told of the turn
	PromiseKept   Point = "promise.kept"   // how it ended is kept
	PromiseClosed Point = "promise.closed" // it is open no more
)

// PromisePoints returns all write points of a promise.
func PromisePoints() []Point {
	return []Point{PromiseCount, PromiseOpen, PromiseMade, PromiseAnswer, PromiseTurn, PromiseOutbox, PromiseTold, PromiseKept, PromiseClosed}
}

// PromiseFreed is the write that gives a place of a number's or a tenant's cap back, before a
// promise whose text does not go out is open no more.
const PromiseFreed Point = "promise.freed"

// PromiseHook is the write about a promise that breaks: the message about it enters the
// webhooks' outbox, after the session was told.
const PromiseHook Point = "promise.hook"

// RateEvent is the one write of a rating: its event enters the talk log.
const RateEvent Point = "rate.event"

// The writes of a change of a session's owner by people, in their order. Those that cancel
// its tickets and promises follow.
const (
	OwnerRecord Point = "owner.record" // the session has another owner
	OwnerEvent  Point = "owner.event"  // it is told so
	OwnerSay    Point = "owner.say"    // a person's message enters the talk log
)

// HookEntry is each write about the delivery of a webhook, after it entered the outbox.
const HookEntry Point = "hook.entry"

// The writes of a notice in the outbox, besides those of its states.
const (
	NoticeCount   Point = "notice.count"   // it counts for its number, and then for its tenant
	NoticeTold    Point = "notice.told"    // its session is told what became of the promise
	NoticeKept    Point = "notice.kept"    // the kept promise knows
	NoticeSettled Point = "notice.settled" // nothing more is to be done
	NoticeAgain   Point = "notice.again"   // an operator wants it sent again
)

// NoticePoint returns the write point of a notice's state.
func NoticePoint(state chat.NoticeState) Point { return Point("notice." + string(state)) }

// NoticePoints returns all write points of a notice.
func NoticePoints() []Point {
	return []Point{
		NoticeCount, NoticePoint(chat.NoticeSending), NoticePoint(chat.NoticeSent), NoticePoint(chat.NoticeUnknown),
		NoticePoint(chat.NoticeQueued), NoticePoint(chat.NoticeDelivered), NoticePoint(chat.NoticeFailed), NoticePoint(chat.NoticeCancelled),
		NoticeTold, NoticeKept, NoticeSettled,
	}
}

// The writes of a repair, which the life of a healthy ticket does without.
const (
	StrayStore Point = "stray.store" // a message that its lane does not deliver is stored anew
	StrayErase Point = "stray.erase" // the stray goes
)

// The writes of a batch, besides those of its lines' tickets, in their order.
const (
	BatchPart   Point = "batch.part"   // a part of its lines is spooled
	BatchKey    Point = "batch.key"    // the idempotency key is claimed
	BatchOpen   Point = "batch.open"   // it is listed as open
	BatchRecord Point = "batch.record" // its record is there: the acceptance
	BatchCursor Point = "batch.cursor" // the lines before it have their tickets
	BatchStop   Point = "batch.stop"   // what has not ended is to be cancelled
	LineMark    Point = "line.mark"    // a line's end is marked, after its ticket's
	BatchEnd    Point = "batch.end"    // all lines have ended
	BatchTold   Point = "batch.told"   // whoever asked for it was told
	BatchClosed Point = "batch.closed" // it is open no more
)

// BatchPoints returns all write points of a batch.
func BatchPoints() []Point {
	return []Point{
		BatchPart, BatchKey, BatchOpen, BatchRecord, BatchCursor, BatchStop, LineMark, BatchEnd, BatchTold, BatchClosed,
	}
}

// Points returns all write points of a ticket's life.
func Points() []Point {
	return []Point{
		IntakeKey, IntakeTicket, IntakeLane, IntakeEvent, IntakeQueued,
		TakeTicket, BackTicket,
		HandTicket, HandList, HandEvent, HandOwner, HandHook,
		EndTicket, EndEvent, EndDead, EndHook, EndStory, EndLane,
		CancelTicket, CancelEvent, CancelStory, CancelLane,
		RequeueLetter,
	}
}

// before asks the configured observer whether the write may happen.
func (q *Queue) before(p Point, ticket string) error {
	if q.cfg.Before == nil {
		return nil
	}
	return q.cfg.Before(p, ticket)
}
