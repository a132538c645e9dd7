package queue

import (
	"strings"

	"sluice/internal/chat"
)

// Streams, buckets and consumers. docs/architecture.md carries the same table.
const (
	talkStream    = "TALK"
	storyStream   = "STORY"
	deadStream    = "DEAD"
	handoffStream = "HANDOFF"
	auditStream   = "AUDIT"
	promiseStream = "PROMISE"
	outboxStream  = "OUTBOX"
	spoolStream   = "SPOOL"

	ticketBucket   = "tickets"
	sessionBucket  = "sessions"
	keyBucket      = "keys"
	tenantBucket   = "tenants"
	ruleBucket     = "rules"
	controlBucket  = "control"
	awayBucket     = "away"
	steeringBucket = "steering"
	operatorBucket = "operators"
	claimBucket    = "claims"
	promiseBucket  = "promises"
	answerBucket   = "answers"
	hookBucket     = "webhooks"
	alertBucket    = "alerts"

	suppressionBucket = "suppressions"
	textBucket        = "texts"
	bulkBucket        = "bulk"
	batchBucket       = "batches"

	knowledgeBucket = "knowledge"
	documentBucket  = "documents"
	faqBucket       = "faq"
	vectorBucket    = "vectors"

	dispatchConsumer = "dispatch"
	recordConsumer   = "record"
)

// The places of a ticket in the talk log.
const (
	slotIn      = "in"
	slotFinal   = "final"
	slotHandoff = "handoff"
	slotOwner   = "owner"
	slotRating  = "rating"
)

func laneStream(l chat.Lane) string { return "LANE_" + strings.ToUpper(string(l)) }

func laneFilter(l chat.Lane) string { return "chat." + string(l) + ".>" }

func laneSubject(t *chat.Ticket) string {
	return "chat." + string(t.Lane) + "." + t.Tenant + "." + t.Session + "." + t.ID
}

func talkFilter(tenant, session string) string { return "talk." + tenant + "." + session + ".>" }

func talkSubject(t *chat.Ticket, slot string) string {
	return "talk." + t.Tenant + "." + t.Session + "." + t.ID + "." + slot
}

func questionFilter(tenant, session string) string {
	return "talk." + tenant + "." + session + ".*." + slotIn
}

// sentFilter matches the events that promises of a session were sent.
func sentFilter(tenant, session string) string {
	return "talk." + tenant + "." + session + ".*." + string(chat.PromiseSent)
}

func storySubject(t *chat.Ticket) string { return "story." + t.Tenant + "." + t.ID }

func outboxSubject(id string) string { return "outbox." + id }

func handoffSubject(ticket string) string { return "handoff." + ticket }

func promiseSubject(id string) string { return "promise." + id }

func deadSubject(ticket string) string { return "dead." + ticket }

func deltaSubject(tenant, session string) string { return "delta." + tenant + "." + session }

func typingSubject(tenant, session string) string { return "typing." + tenant + "." + session }

func nudgeSubject(ticket string) string { return "nudge." + ticket }

func bucketSubject(bucket, key string) string { return "$KV." + bucket + "." + key }
