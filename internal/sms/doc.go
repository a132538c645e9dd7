// Package sms speaks to the carriers of text messages: what a message says, how many
// segments it takes, how it is handed over, and what the carriers' receipts mean. It
// decides nothing about when or whether a message goes out.
package sms
