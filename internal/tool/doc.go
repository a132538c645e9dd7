// Package tool calls the services that the agent may use while it works on an answer:
// HTTP services described by the rules. It belongs to stage 3.
//
// Comes in: a model's wish to have a tool called, with arguments that nobody trusts. Goes
// out: an observation for the model, always: a tool that fails, is slow, busy or not
// allowed never makes the answer fail. Whom a call is for comes from the ticket, never from
// the arguments. Each call holds a permit of its tool, which the whole cluster shares.
package tool
