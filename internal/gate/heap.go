package gate

// placed is what a heap holds: it knows what it comes before, and is told where it was put,
// so that it can be moved and taken out from there.
type placed[T any] interface {
	precedes(other T) bool
	put(at int)
}

// heapOf is a binary heap for the functions of container/heap.
type heapOf[T placed[T]] []T

func (h heapOf[T]) Len() int           { return len(h) }
func (h heapOf[T]) Less(i, j int) bool { return h[i].precedes(h[j]) }
func (h heapOf[T]) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].put(i)
	h[j].put(j)
}

func (h *heapOf[T]) Push(x any) {
	one := x.(T)
	one.put(len(*h))
	*h = append(*h, one)
}

func (h *heapOf[T]) Pop() any {
	last := len(*h) - 1
	one := (*h)[last]
	clear((*h)[last:]) // or it would be kept alive
	*h = (*h)[:last]
	return one
}
