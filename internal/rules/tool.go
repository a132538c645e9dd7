package rules

import "time"

// Tool is a service that the agent may call over HTTP while it works on an answer.
type Tool struct {
	Name string `yaml:"name"` // 1 to 32 of a-z 0-9 _ -, unique. Required.
	// Description tells the model what the tool is for, by language: "zh" and "en",
	// no other.
	Description map[string]string `yaml:"description"`
	URL         string            `yaml:"url"`    // http or https. Required.
	Method      string            `yaml:"method"` // GET: arguments in the query; POST: as a JSON body. Defaults to POST.
	Arguments   Schema            `yaml:"arguments"`
	KeyEnv      string            `yaml:"key_env"` // environment variable with the bearer key; empty: no key
	// Identity says that the tool is called only for a customer whose identity is known; its
	// id goes along in a header. Defaults to true.
	Identity  bool          `yaml:"identity"`
	Timeout   time.Duration `yaml:"timeout"`    // of one call, 50ms to 60s. Defaults to 3s.
	PerAnswer int           `yaml:"per_answer"` // calls of one answer, 1 to 20. Defaults to 4.
	Permits   int           `yaml:"permits"`    // calls at once over all nodes, at least 1. Defaults to 16.
	Breaker   Breaker       `yaml:"breaker"`    // as a vendor's; SlowAfter defaults to 2s and is of the whole call
	// Effect says that a call changes something. It is then claimed for its order, so that
	// the same is never done twice. Defaults to false.
	Effect bool `yaml:"effect"`
	// Confirm says that the customer must have agreed to Question before. It needs Effect.
	// Defaults to false.
	Confirm bool `yaml:"confirm"`
	// Handoff says that a call which the tool accepts calls a person: the session goes to
	// people. Defaults to false.
	Handoff bool `yaml:"handoff"`
	// Question asks the customer, by language; {order} and other {argument}s are filled in.
	// "zh" and "en" are required where Confirm is true, and {order} in each.
	Question map[string]string `yaml:"question"`
	// Done tells the customer that the effect took place, by language; arguments and the
	// fields of the tool's answer are filled in. "zh" and "en" are required where Effect is true.
	Done map[string]string `yaml:"done"`
}

// Schema is the part of JSON Schema that describes a tool's arguments. An object takes no
// properties but its own.
type Schema struct {
	Type        string            `yaml:"type" json:"type"` // object, array, string, integer, number or boolean. Required.
	Description string            `yaml:"description" json:"description,omitempty"`
	Properties  map[string]Schema `yaml:"properties" json:"properties,omitempty"`
	Required    []string          `yaml:"required" json:"required,omitempty"`
	Items       *Schema           `yaml:"items" json:"items,omitempty"` // of an array. Required there.
	MaxItems    *int              `yaml:"max_items" json:"maxItems,omitempty"`
	Enum        []string          `yaml:"enum" json:"enum,omitempty"`       // of a string
	Pattern     string            `yaml:"pattern" json:"pattern,omitempty"` // of a string, RE2
	MinLength   *int              `yaml:"min_length" json:"minLength,omitempty"`
	MaxLength   *int              `yaml:"max_length" json:"maxLength,omitempty"`
	Minimum     *float64          `yaml:"minimum" json:"minimum,omitempty"`
	Maximum     *float64          `yaml:"maximum" json:"maximum,omitempty"`
}

func blankTool() Tool {
	breaker := blankVendor().Breaker
	breaker.SlowAfter = 2 * time.Second
	return Tool{
		Method: "POST", Arguments: Schema{Type: "object"}, Identity: true,
		Timeout: 3 * time.Second, PerAnswer: 4, Permits: 16, Breaker: breaker,
	}
}
