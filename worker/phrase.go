package worker

import "sluice/internal/chat"

// phrases are lines that a system prompt gets where they are needed.
type phrases struct {
	placeholders string // there are some in the prompt
	again        string // the last reply was in another script
	moods        map[chat.Mood]string
}

var chinesePhrases = phrases{
	placeholders: "形如 [PHONE_1]、[MAIL_1]、[CARD_1]、[ID_1] 的文字代替客户的个人信息；需要提到或传给工具时，请原样照写，不要改动，也不要询问原文。",
	again:        "务必只用简体中文回答。",
	moods: map[chat.Mood]string{
		chat.MoodWorried:   "客户有些着急：先让客户知道你在处理，再说具体情况。",
		chat.MoodAngry:     "客户很生气：先为这件事简短致歉，不辩解，再说接下来怎么办。",
		chat.MoodDesperate: "客户非常无助：先表示理解，语气温和，再给出最快能走的一步。",
	},
}

var englishPhrases = phrases{
	placeholders: "Words such as [PHONE_1], [MAIL_1], [CARD_1] and [ID_1] stand for personal data of the customer. Where you mention them, or pass them to a tool, write them exactly as they are, and do not ask for what they stand for.",
	again:        "Answer in English only.",
	moods: map[chat.Mood]string{
		chat.MoodWorried:   "The customer is worried: say first that you are on it, then how things stand.",
		chat.MoodAngry:     "The customer is angry: begin with a short apology for what happened, without excuses, then say what comes next.",
		chat.MoodDesperate: "The customer is in despair: show first that you understand, be gentle, then name the quickest step that helps.",
	},
}

func phrase(language string) phrases {
	if language == chat.Chinese {
		return chinesePhrases
	}
	return englishPhrases
}
