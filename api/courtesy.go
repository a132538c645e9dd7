package api

import "sluice/internal/chat"

// courtesy is what a customer reads when their message was refused for load, or empty
// when it was refused for another reason.
func courtesy(err error, language string) string {
	switch {
	case chat.KindOf(err) != chat.Overloaded:
		return ""
	case language == chat.Chinese:
		return "抱歉，现在咨询的人很多，您的消息还没能排上队。请稍等片刻再发一次，我们会尽快为您解答。"
	}
	return "Sorry, a lot of people are writing to us right now and we could not take your message. " +
		"Please send it again in a moment, and we will get to you as soon as we can."
}
