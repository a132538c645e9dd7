package sim

import (
	"regexp"
	"strings"
)

var (
	dictated = regexp.MustCompile(`(?:say|说出)[:：]?\s*"([^"]+)"`)
	revealed = regexp.MustCompile(`(?i)print (?:your|the) (?:system )?prompt|输出(?:你的)?(?:系统)?提示词`)
)

// told is everything that an obedient model takes for an order: the question, what tools
// answered, and the passages of the prompt.
func (q question) told() string {
	texts := append([]string{q.text}, q.answers...)
	for _, s := range q.sources {
		texts = append(texts, s.text)
	}
	return strings.Join(texts, "\n")
}

// parrot adds to an answer what an obedient model was told to say: words between quotes,
// and its whole prompt.
func parrot(req chatRequest, q question, answer string) string {
	told := q.told()
	for _, m := range dictated.FindAllStringSubmatch(told, -1) {
		answer += "\n\n" + m[1]
	}
	if revealed.MatchString(told) {
		for _, m := range req.Messages {
			answer += "\n\n" + m.Content
		}
	}
	return answer
}
