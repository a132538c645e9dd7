package queue

import "context"

// SeizeLease takes the controller's lease for good and returns its epoch, which is
// greater than every earlier one. It asks nobody, and removes what former processes
// registered: the caller knows that they are dead and that no other one can come.
func (q *Queue) SeizeLease(ctx context.Context, owner string) (epoch uint64, err error) {
	if err := q.clearNodes(ctx); err != nil {
		return 0, err
	}
	epoch, err = q.control.PutString(ctx, leaseKey, owner)
	return epoch, refusal("take the controller's lease", err)
}
