package llm

import (
	"strings"
	"testing"
)

// BenchmarkChunk measures one event of a stream through the normaliser, without the network and langchaingo.
func BenchmarkChunk(b *testing.B) {
	for name, event := range map[string]string{
		"fast":    text("您好，退款"),
		"decoded": `{"id": "c", "choices": [{"index": 0, "delta": {"content": "您好，退款"}, "finish_reason": null}]}`,
		"tool":    tool(`{"index":0,"type":"function","function":{"name":"","arguments":"1"}}`),
	} {
		b.Run(name, func(b *testing.B) {
			line := []byte("data: " + event)
			var n normaliser
			b.ReportAllocs()
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				if _, fail := n.line(line); fail != nil {
					b.Fatal(fail)
				}
				n.out.Reset()
				if n.size > 1<<16 {
					n = normaliser{}
				}
			}
		})
	}
}

// BenchmarkCall measures a whole streamed call of 200 chunks over the loopback interface, vendor included.
func BenchmarkCall(b *testing.B) {
	data := strings.Split(strings.Repeat(text("您好，退款")+"\n", 200), "\n")[:200]
	c := clientOf(b, events(append(data, finish("stop"), "[DONE]")...), nil)
	b.ReportAllocs()
	for b.Loop() {
		var h heard
		if _, err := ask(b.Context(), c, &h); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/200, "ns/chunk")
}

// BenchmarkStream measures the normaliser as langchaingo reads it.
func BenchmarkStream(b *testing.B) {
	body := strings.Repeat("data: "+text("您好，退款")+"\n\n", 1000) + "data: " + finish("stop") + "\n\ndata: [DONE]\n\n"
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if _, fail := normalised(b, strings.NewReader(body)); fail != nil {
			b.Fatal(fail)
		}
	}
}
