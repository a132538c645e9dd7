// Package llm is the client for one endpoint of an account at an OpenAI-compatible vendor. It serves stage 3: chains call
// it through llms.Model, the vendor gate stands around it, and no NATS subject is involved.
//
// The wire client is langchaingo's llms/openai. Two pieces of our own make it fit for production: a transport beneath
// it (typed errors, time-outs, a normaliser for streamed answers) and a guard around it (no half answer is a success,
// only the customer's text reaches the customer). A call passes through them like this:
//
//	Client.GenerateContent → langchaingo → doer.Do → http.Transport
//	       guard, judge                    watch, whole answer or stream
//
// When GenerateContent returns, the upstream response body has been read to EOF or closed. That is what a permit of the
// vendor's quota is held for; the [DONE] line is not the end of a call.
package llm
