package pulse

import (
	"strings"

	"sluice/internal/chat"
)

// What is counted of a lane.
const (
	In      = "in"      // accepted
	Out     = "out"     // ended, in whatever way
	Refused = "refused" // turned away for load or a limit
	Wait    = "wait"    // spread: from acceptance to the route decision, of answers
)

// What is counted of a vendor.
const (
	Calls     = "calls"     // that have ended
	Throttled = "throttled" // of these: answered 429
	Tokens    = "tokens"    // that it has counted
	Took      = "took"      // spread: how long the calls were under way
)

// OfLane names what is counted of a lane.
func OfLane(lane chat.Lane, what string) string { return "lane." + string(lane) + "." + what }

// OfVendor names what is counted of a vendor.
func OfVendor(vendor, what string) string { return "vendor." + vendor + "." + what }

// chartOf names the chart of a part of a spread: lane.normal.wait_p95_ms, vendor.a.p95_ms.
func chartOf(spread, part string) string {
	if vendor, took := strings.CutSuffix(spread, "."+Took); took {
		return vendor + "." + part
	}
	return spread + "_" + part
}

// OfRoute names the count of the answers by a route.
func OfRoute(route chat.Route) string { return "route." + string(route) }

// Routes returns all routes, best first.
func Routes() []chat.Route {
	return []chat.Route{chat.RouteAgent, chat.RouteRAG, chat.RouteFAQ, chat.RouteCache, chat.RouteTemplate}
}
