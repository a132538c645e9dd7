package chat

// EntityKind is what a piece of a message names.
type EntityKind string

// The kinds of entity that a ticket carries.
const (
	EntityOrder    EntityKind = "order"
	EntityTracking EntityKind = "tracking"
	EntityPhone    EntityKind = "phone"
	EntityAmount   EntityKind = "amount"
	EntityDate     EntityKind = "date"
	EntityMail     EntityKind = "mail"
)

// Entity is one thing that a message names. Start and End are where it stands, in bytes
// of the message. Value is what it comes to: numbers without blanks and in plain digits,
// letters of codes as capitals, other words as they stand.
type Entity struct {
	Kind  EntityKind `json:"kind"`
	Value string     `json:"value"`
	Start int        `json:"start"`
	End   int        `json:"end"`
}

// Mood is how a customer feels, by the words of a message; elsewhere called sentiment.
type Mood string

// The moods, mildest first. An empty one says that nobody looked.
const (
	MoodCalm      Mood = "calm"
	MoodWorried   Mood = "worried"
	MoodAngry     Mood = "angry"
	MoodDesperate Mood = "desperate"
)

// Reading is what code makes of a message at the intake. Each part may be missing.
type Reading struct {
	Entities []Entity
	Mood     Mood
	Language string // Chinese, English; empty: neither the text nor the locale says
}
