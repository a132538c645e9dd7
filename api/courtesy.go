package api

import (
	"errors"

	"sluice/internal/chat"
)

// courtesy is what a customer reads when their message was refused for load, or empty
// when it was refused for another reason.
func courtesy(err error, language string) string {
	var e *chat.Error
	switch {
	case chat.KindOf(err) != chat.Overloaded:
		return ""
	case errors.As(err, &e) && e.Code == codeDraining && language == chat.Chinese:
		return "抱歉，客服正在短暂维护，您的消息还没能收下。请稍等片刻再发一次。"
	case errors.As(err, &e) && e.Code == codeDraining:
		return "Sorry, our service is being looked after for a moment and could not take your message. Please send it again shortly."
	case errors.As(err, &e) && e.Code == codeQuota && language == chat.Chinese:
		return "抱歉，我们暂时收不下更多消息，您的这条还没能收下。请过一段时间再发一次。"
	case errors.As(err, &e) && e.Code == codeQuota:
		return "Sorry, we cannot take any more messages for the time being, and yours was not taken. Please send it again later."
	case language == chat.Chinese:
		return "抱歉，现在咨询的人很多，您的消息还没能排上队。请稍等片刻再发一次，我们会尽快为您解答。"
	}
	return "Sorry, a lot of people are writing to us right now and we could not take your message. " +
		"Please send it again in a moment, and we will get to you as soon as we can."
}
