package eval

import (
	"runtime"
	"time"

	"sluice/internal/intent"
)

// Cost fills in the CPU time of a message, by language. It goes through the messages
// until there is enough to measure, and counts what the process uses: nothing else
// should run in it.
func (r *Report) Cost(c *intent.Classifier, messages []intent.Example) {
	for language, score := range r.Intents {
		var texts []string
		for _, m := range messages {
			if language == All || m.Language == language {
				texts = append(texts, m.Text)
			}
		}
		score.CPU = cost(c, texts)
		r.Intents[language] = score
	}
}

func cost(c *intent.Classifier, texts []string) float64 {
	const enough, maxPasses = 200 * time.Millisecond, 100
	if len(texts) == 0 {
		return 0
	}
	runtime.GC()
	began, passes := cpuTime(), 0
	for passes < maxPasses && (passes == 0 || cpuTime()-began < enough) {
		for _, text := range texts {
			c.Classify(text)
		}
		passes++
	}
	return float64((cpuTime() - began).Microseconds()) / float64(passes*len(texts))
}
