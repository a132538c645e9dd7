package chat

import "time"

// The scores of a rating.
const (
	MinScore = 1
	MaxScore = 5
)

// Rating is what a customer thinks of the answer to a ticket. The comment is the customer's
// own words.
type Rating struct {
	Score   int    `json:"score"` // MinScore to MaxScore
	Comment string `json:"comment,omitempty"`
}

// Rated is a rating that was given.
type Rated struct {
	Rating
	At time.Time `json:"at"`
}

// RatingEvent returns the event that tells of a ticket's rating. It names no writer: it is
// no message.
func (t *Ticket) RatingEvent(r Rating, now time.Time) Event {
	return Event{Kind: KindRating, At: now, Ticket: t.ID, Rating: &r}
}
