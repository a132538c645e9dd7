package load

import "fmt"

// spareFiles are what a load opens beside its sockets: calls, vendors, itself.
const spareFiles = 1000

// enoughFiles refuses to begin what would run out of files.
func enoughFiles(need int) error {
	most, known := mostFiles()
	if !known || most >= uint64(need) {
		return nil
	}
	return fmt.Errorf("this process may open %d files and needs %d: run `ulimit -Hn %d` as root before it (docker: --ulimit nofile=%[3]d), or take fewer --sockets",
		most, need, roundFiles(need))
}

// roundFiles returns a limit with room, as people write it.
func roundFiles(need int) int {
	limit := 1 << 12
	for limit < need {
		limit *= 2
	}
	return limit
}
