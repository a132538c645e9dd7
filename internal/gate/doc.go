// Package gate decides how many calls a vendor may see at once, and who is next.
//
// Table is the plain in-memory decision: permits per vendor, waiters in lane order
// with ageing, one turn per session. The controller (internal/control) owns one and
// serves it. Model is the other end: the llms.Model decorator that every call to a
// vendor passes, holding a permit from before the call until the response body's end.
package gate
