package chat

// Arrival is what the intake asks about a message before it is accepted. It holds nothing
// that the customer wrote or is called.
type Arrival struct {
	Tenant string `json:"tenant"`
	// Customer is a hash by which a tenant's customer is known again. Empty: this one
	// cannot be.
	Customer string `json:"customer,omitempty"`
	Lane     Lane   `json:"lane"`
	Urgent   bool   `json:"urgent,omitempty"`
	Bytes    int    `json:"bytes"` // of the text
	// Fed says that it is a line of a batch, which waits for nobody's rate: it counts for
	// the day alone.
	Fed bool `json:"fed,omitempty"`
}
