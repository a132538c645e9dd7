package load

import "time"

// use sums up what the instance used.
func (m *meter) use(sockets int) ServerUse {
	start, rest := m.marks[atStart].usage, m.marks[atRest].usage
	u := ServerUse{Measured: start.known && rest.known}
	if !u.Measured {
		return u
	}
	most := 0.0
	for _, l := range m.looks {
		most = max(most, l.usage.resident)
	}
	each := func(bytes float64) int64 { return int64(max(bytes, 0)) / int64(sockets) }
	u.StartBytes, u.IdleBytes, u.MostBytes = int64(start.resident), int64(rest.resident), int64(most)
	u.EndBytes = int64(m.marks[atEnd].usage.resident)
	u.IdleEach, u.MostEach = each(rest.resident-start.resident), each(most-start.resident)
	u.IdleInUse, u.Goroutines = each(rest.inUse-start.inUse), int(rest.goroutines)
	u.IdleCPU = processors(m.marks[atOpen], m.marks[atRest])
	u.TalkCPU = processors(m.marks[atRest], m.marks[atTalked])
	return u
}

// processors is how many were in use between two looks; 0: not known.
func processors(a, b look) float64 {
	span := b.at.Sub(a.at).Seconds()
	if span <= 0 || !a.usage.known || !b.usage.known {
		return 0
	}
	return max(b.usage.cpu-a.usage.cpu, 0) / span
}

// leastSpan is the shortest time that a rate is told of.
const leastSpan = meterEvery / 2

// series tells of each look but those that follow another at once.
func (m *meter) series(from time.Time) []SocketSecond {
	all := []SocketSecond{}
	last := look{at: from}
	for _, l := range m.looks {
		span := l.at.Sub(last.at)
		if span < leastSpan {
			continue
		}
		all = append(all, SocketSecond{
			At: l.at.Sub(from).Round(10 * time.Millisecond).Seconds(), Open: l.open,
			Acks: rate(last.acked, l.acked, span), Answers: rate(last.ended, l.ended, span),
			Bytes: int64(l.usage.resident), CPU: processors(last, l),
		})
		last = l
	}
	return all
}

func rate(from, to int64, span time.Duration) float64 { return float64(to-from) / span.Seconds() }
