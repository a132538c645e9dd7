// Package mood tells how a customer feels from the words of a message. It is a short list
// of words and phrases with weights, Chinese and English, of which those that are denied
// do not count. Text goes in, a chat.Mood comes out, without I/O and in one pass.
package mood
