package sim

import (
	_ "embed"
	"encoding/json"
	"regexp"
	"time"
)

//go:embed shop/orders.json
var shopOrders []byte

var (
	plainPhone = regexp.MustCompile(`^1[3-9]\d{9}$`)
	plainDate  = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)
)

// loadOrders reads the demo orders, moved to now: times by as much as has passed since the
// data was taken, and phones as E.164.
func loadOrders(now time.Time) (map[string]*order, error) {
	var data struct {
		AsOf   time.Time        `json:"as_of"`
		Orders []map[string]any `json:"orders"`
	}
	if err := json.Unmarshal(shopOrders, &data); err != nil {
		return nil, err
	}
	by := now.Sub(data.AsOf)
	all := map[string]*order{}
	for _, fields := range data.Orders {
		moved, _ := move(fields, by).(map[string]any)
		o := &order{fields: moved}
		o.id, _ = moved["id"].(string)
		o.customer, _ = moved["customer_id"].(string)
		o.state, _ = moved["state"].(string)
		amounts, _ := moved["amounts"].(map[string]any)
		o.paid, _ = amounts["paid"].(float64)
		all[o.id] = o
	}
	return all, nil
}

// move moves every time in a value of JSON.
func move(value any, by time.Duration) any {
	switch value := value.(type) {
	case map[string]any:
		for name, v := range value {
			value[name] = move(v, by)
		}
	case []any:
		for i, v := range value {
			value[i] = move(v, by)
		}
	case string:
		if at, err := time.Parse(time.RFC3339, value); err == nil {
			return at.Add(by).Format(time.RFC3339)
		}
		if plainDate.MatchString(value) {
			if at, err := time.Parse(time.DateOnly, value); err == nil {
				return at.Add(by).Format(time.DateOnly)
			}
		}
		if plainPhone.MatchString(value) {
			return "+86" + value
		}
	}
	return value
}

// spoken returns a value with the texts of one language, and without what is null.
func spoken(value any, lang string) any {
	switch value := value.(type) {
	case map[string]any:
		if text, both := value[lang]; both && len(value) == 2 {
			return text
		}
		out := map[string]any{}
		for name, v := range value {
			if v != nil {
				out[name] = spoken(v, lang)
			}
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, v := range value {
			out[i] = spoken(v, lang)
		}
		return out
	}
	return value
}

// order is what the customer's service sees of an order: no address and no phone.
func (s *Shop) order(o *order, lang string) map[string]any {
	out := map[string]any{"order": o.id, "paid": o.paid, "refundable": o.refundable()}
	for _, name := range []string{
		"state", "placed_at", "paid_at", "packed_at", "shipped_at", "delivered_at", "cancelled_at", "cancel_reason",
		"items", "delivery", "pay_before", "return_until", "appointment", "made_to_order",
	} {
		if v := o.fields[name]; v != nil {
			out[name] = spoken(v, lang)
		}
	}
	if amounts, ok := o.fields["amounts"].(map[string]any); ok {
		out["total"] = amounts["total"]
	}
	return out
}

func (s *Shop) logistics(o *order, lang string) map[string]any {
	out := map[string]any{"order": o.id, "state": o.state}
	shipment, ok := o.fields["shipment"].(map[string]any)
	if !ok {
		out["shipment"] = "none"
		return out
	}
	for name, v := range shipment {
		out[name] = spoken(v, lang)
	}
	return out
}

func (s *Shop) progress(o *order, lang string) map[string]any {
	out := map[string]any{"order": o.id, "refundable": o.refundable(), "refund": "none"}
	refund, ok := o.fields["refund"].(map[string]any)
	if !ok {
		return out
	}
	out["refund"] = refund["state"]
	for _, name := range []string{"id", "amount", "requested_at", "approved_at", "completed_at", "expected_by", "reason", "deductions"} {
		if v := refund[name]; v != nil {
			out[name] = spoken(v, lang)
		}
	}
	return out
}
