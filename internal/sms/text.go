package sms

import (
	"fmt"

	"sluice/internal/chat"
)

// MaxSegments is the most that a notice may take: whoever configures a longer address is
// told before anything is promised.
const MaxSegments = 3

// What a notice says where carriers take a free text: the code of the ticket, and a constant
// address, never a word of the answer.
var (
	withLink = map[string]string{
		chat.Chinese: "您的咨询（编号 %s）已有完整答复，详见 %s 退订回TD",
		chat.English: "Your question (code %s) has a full answer. Read it here: %s Reply STOP to opt out.",
	}
	withoutLink = map[string]string{
		chat.Chinese: "您的咨询（编号 %s）已有完整答复，请回到原来的对话查看。退订回TD。",
		chat.English: "Your question (code %s) has a full answer. Please go back to the chat where you asked. Reply STOP to opt out.",
	}
)

// longestCode is as long as a code can be.
const longestCode = "WWWW-WWWW"

// Text returns what a notice says, in the customer's language where there is one of ours.
// link is where the answer is read; empty: the text names none.
func Text(language, code, link string) string {
	if withLink[language] == "" {
		language = chat.English
	}
	if link == "" {
		return fmt.Sprintf(withoutLink[language], code)
	}
	return fmt.Sprintf(withLink[language], code, link)
}

func counted(n *chat.Notice, link string) (text string, segments int) {
	text = Text(n.Language, n.Code, link)
	return text, Segments(text)
}

// Fits reports whether every notice with a link stays within MaxSegments.
func Fits(link string) bool {
	return Segments(Text(chat.Chinese, longestCode, link)) <= MaxSegments &&
		Segments(Text(chat.English, longestCode, link)) <= MaxSegments
}
