#pragma once

// The one right that CRIU needs to save and restore the processes of a user, as that user:
// CAP_CHECKPOINT_RESTORE (capabilities(7)).
//
// It lets a process choose the ids of its children; what it may read, write or trace stays what its
// user may. Root becomes the user and keeps it through the exec. Thread promise: the calling
// thread; async-signal-safe, for the child between fork and exec. Invariant: of all rights no other
// is kept.

namespace muster::agent {

// Before the user changes. False, with errno: it is not kept.
bool BeginKeepingRestoreRight();
// After: drops all rights but that one, which survives an exec.
bool KeepRestoreRightAlone();

}  // namespace muster::agent
