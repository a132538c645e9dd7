package chat

// Effort is how an answer is to be made.
type Effort struct {
	Route Route
	Light bool // by the light model
	Bare  bool // without tools: the customer is told which services are busy
}

// Calls reports whether the answer needs a vendor.
func (e Effort) Calls() bool { return e.Route == RouteAgent || e.Route == RouteRAG }
