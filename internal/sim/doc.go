// Package sim is a simulated LLM vendor: a real HTTP server that speaks the OpenAI
// protocol, for planning capacity without an account and for testing what stands
// before a vendor. It belongs to no stage and imports nothing of Sluice.
//
// What comes in are calls of /v1/chat/completions (plain and streamed, with tools),
// /v1/embeddings and /v1/models; what goes out are answers in the question's language
// at a chosen pace. A control handler, meant for a port of its own, reads the
// statistics and sets latency and faults while calls run.
//
// Beside the vendors there is a demo shop, whose orders the tools of the shipped rules look
// up.
//
// Time passes through timers of package time alone and every wait ends with the
// request's context, so a vendor also runs inside a testing/synctest bubble on a
// [PipeListener].
package sim
