//go:build !unix

package drill

func (d *door) backlog(int) error { return errNotShut }
