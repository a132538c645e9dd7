package worker

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice/internal/cache"
	"sluice/internal/chat"
	"sluice/internal/queue"
)

func TestOnlyAQuestionOfManyIsCacheable(t *testing.T) {
	t.Parallel()
	general := chat.Ticket{Message: "Do you deliver to islands?", Intent: "delivery_info", Lane: chat.Normal}
	for name, c := range map[string]struct {
		change  func(*chat.Ticket)
		history []chat.Event
		want    bool
	}{
		"a general question":          {nil, nil, true},
		"in Chinese":                  {func(t *chat.Ticket) { t.Message = "海南发货要几天？满99包邮吗" }, nil, true},
		"in a batch":                  {func(t *chat.Ticket) { t.Lane = chat.Batch }, nil, true},
		"after an open question":      {nil, []chat.Event{asked("t1", "hello?")}, true},
		"after a system message":      {nil, []chat.Event{{Kind: chat.KindMessage, Who: chat.BySystem, Text: "wait"}}, true},
		"of a year":                   {func(t *chat.Ticket) { t.Message = "Is the 2026 catalogue out?" }, nil, true},
		"urgent":                      {func(t *chat.Ticket) { t.Urgent = true }, nil, false},
		"of a known customer":         {func(t *chat.Ticket) { t.Customer = &chat.Customer{Name: "Ann"} }, nil, false},
		"asked again":                 {func(t *chat.Ticket) { t.RetryOf = "t_1" }, nil, false},
		"to be answered by SMS":       {func(t *chat.Ticket) { t.Lane = chat.Deferred }, nil, false},
		"not understood":              {func(t *chat.Ticket) { t.Intent = Other }, nil, false},
		"a greeting":                  {func(t *chat.Ticket) { t.Intent = "greeting" }, nil, false},
		"after an answer":             {nil, []chat.Event{asked("t1", "hello?"), replied("t1", "Hello.")}, false},
		"with an order":               {func(t *chat.Ticket) { t.Message = "Where is 10042?" }, nil, false},
		"with a phone":                {func(t *chat.Ticket) { t.Message = "call 138-0013 8000" }, nil, false},
		"with a full-width number":    {func(t *chat.Ticket) { t.Message = "订单１００４２" }, nil, false},
		"with a spoken number":        {func(t *chat.Ticket) { t.Message = "订单一零零四二" }, nil, false},
		"with a mail address":         {func(t *chat.Ticket) { t.Message = "I am ann@shop.example" }, nil, false},
		"with a day":                  {func(t *chat.Ticket) { t.Message = "since 2026-11-30" }, nil, false},
		"with a sum":                  {naming(chat.EntityAmount), nil, true},
		"that names an order":         {naming(chat.EntityOrder), nil, false},
		"that names a parcel":         {naming(chat.EntityTracking), nil, false},
		"that names a phone":          {naming(chat.EntityPhone), nil, false},
		"of today":                    {naming(chat.EntityDate), nil, false},
		"asked calmly":                {func(t *chat.Ticket) { t.Mood = chat.MoodCalm }, nil, true},
		"asked in anger":              {func(t *chat.Ticket) { t.Mood = chat.MoodAngry }, nil, false},
		"a story":                     {func(t *chat.Ticket) { t.Message = strings.Repeat("so ", 120) }, nil, false},
		"that has something to do":    {func(t *chat.Ticket) { t.Deed = &chat.Deed{} }, nil, false},
		"about one's parcel":          {func(t *chat.Ticket) { t.Message = "when will my parcel arrive!" }, nil, false},
		"about one's points":          {func(t *chat.Ticket) { t.Message = "我的积分还有多少!" }, nil, false},
		"about one's account":         {func(t *chat.Ticket) { t.Message = "Is MY account blocked!" }, nil, false},
		"about one's payment":         {func(t *chat.Ticket) { t.Message = "did my payment go through!" }, nil, false},
		"about what one has done":     {func(t *chat.Ticket) { t.Message = "I already paid, what now" }, nil, false},
		"about one's state":           {func(t *chat.Ticket) { t.Message = "am I a member" }, nil, false},
		"about a parcel under way":    {func(t *chat.Ticket) { t.Message = "快递到哪了" }, nil, false},
		"about what one bought":       {func(t *chat.Ticket) { t.Message = "我买的台灯保修多久" }, nil, false},
		"in pinyin about one's own":   {func(t *chat.Ticket) { t.Message = "wo de kuai di dao na li le" }, nil, false},
		"about a named person's":      {func(t *chat.Ticket) { t.Message = "has the parcel for Mr Smith arrived yet" }, nil, false},
		"about a parcel that is late": {func(t *chat.Ticket) { t.Message = "is the parcel on its way" }, nil, false},
		"about what has not come":     {func(t *chat.Ticket) { t.Message = "the sofa hasn't come" }, nil, false},
		"about what was ordered":      {func(t *chat.Ticket) { t.Message = "订的沙发什么时候送" }, nil, false},
		"about the last time":         {func(t *chat.Ticket) { t.Message = "what invoice title was used last time" }, nil, false},
		"of somebody who would":       {func(t *chat.Ticket) { t.Message = "How do I return a lamp, and can I pay cash?" }, nil, true},
		"of somebody who wants":       {func(t *chat.Ticket) { t.Message = "我想退货怎么操作" }, nil, true},
		"with numbers that say a lot": {func(t *chat.Ticket) { t.Message = "size 40 or 41, 2 of them?" }, nil, true},
	} {
		ticket := general
		if c.change != nil {
			c.change(&ticket)
		}
		if got := Cacheable(&ticket, c.history); got != c.want {
			t.Errorf("a question %s: %v", name, got)
		}
	}
}

func naming(kind chat.EntityKind) func(*chat.Ticket) {
	return func(t *chat.Ticket) { t.Entities = []chat.Entity{{Kind: kind, Value: "x"}} }
}

func TestOnlyAWholeReplyIsKept(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"We deliver in 3 days.": true, "满99元包邮。": true, "See [your order](https://shop.example/order).": true,
		"In 3 days. …Or 4.": true, "It costs …\n\nSources: [1] [Order and delivery](<https://shop.example>)": false,
		"": false, " \n": false, "The first thing to …": false, "Dear [Your Name], yes.": false, "您的订单号是【订单号】": false,
		"Hello {{customer}}": false, "It is ${price}.": false, "⟦PHONE_1⟧ is noted.": false, "Call <phone number>.": false,
	} {
		if got := whole(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestAnAnswerIsFoundByAllThatItDependsOn changes one thing at a time, and asks for
// the key under which the answer would be looked for.
func TestAnAnswerIsFoundByAllThatItDependsOn(t *testing.T) {
	t.Parallel()
	models, knowledge := "a/m-l", "v1"
	config := func() Config {
		return Config{Memory: &Memory{
			Answers: (*queue.Queue)(nil), Fold: strings.ToLower,
			Keep: func() time.Duration { return time.Hour }, Jitter: func() time.Duration { return 0 },
			Models: func(chat.Effort) string { return models }, Knowledge: func() string { return knowledge },
		}}
	}
	base := newWorker(t, nil, config())
	prompted := config()
	prompted.Prompts = map[string]string{chat.English: "Answer in rhymes."}
	rhymes := newWorker(t, nil, prompted)
	rapid.Check(t, func(t *rapid.T) {
		seen := map[cache.Key]string{}
		text := rapid.StringMatching(`[a-z]{1,8}( [a-z]{1,8}){0,3}`).Draw(t, "text")
		look := func(what string, w *Worker, ticket chat.Ticket, how chat.Effort) cache.Key {
			key, err := w.keyOf(&ticket, how)
			if err != nil {
				t.Fatal(err)
			}
			if other, taken := seen[key]; taken {
				t.Fatalf("%s is answered as %s", what, other)
			}
			seen[key] = what
			return key
		}
		ticket := chat.Ticket{Tenant: "demo", Message: text, Language: chat.English}
		agent := chat.Effort{Route: chat.RouteAgent}
		first := look("the question", base, ticket, agent)
		look("another rung", base, ticket, chat.Effort{Route: chat.RouteRAG, Light: true})
		look("another prompt", rhymes, ticket, agent)
		models, knowledge = "a/m-xl", "v1"
		look("another model", base, ticket, agent)
		models, knowledge = "a/m-l", "v2"
		look("other knowledge", base, ticket, agent)
		models, knowledge = "a/m-l", "v1"
		other := ticket
		other.Tenant = "demo2"
		look("another tenant", base, other, agent)
		other = ticket
		other.Language = chat.Chinese
		look("another language", base, other, agent)
		other = ticket
		other.Message = text + " not"
		look("another question", base, other, agent)

		other = ticket
		other.Message = "  " + strings.ToUpper(text) + " ?! "
		if again, err := base.keyOf(&other, agent); again != first || err != nil {
			t.Fatalf("the same question, written otherwise, is another one: %v", err)
		}
	})
}
