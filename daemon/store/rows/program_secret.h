#pragma once

// What a program holds of its submitter's secrets: its environment and its script, apart from the
// rest, so that they are erased by themselves when their job ends.
//
// Invariants: (1) putting back what was taken gives the program that was; (2) what is left of a
// program whose secret was erased still says where it runs, with which arguments, which files it
// has and from which host it was submitted.

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "scheduler/model/change/event.h"
#include "scheduler/model/job/job_spec.h"

namespace muster::daemon {

// Whether scripts, too, are erased when their jobs end.
enum class Scripts { kErased, kKept };

// Takes the environment out of `program`, and the script unless it is kept.
Program TakeSecret(Scripts scripts, Program* program);
// The same of the submission's program and of its components', as bytes.
std::string TakeSecrets(Scripts scripts, JobSubmitted* event);

// The entry as it is once its secrets are erased, scripts among them: equal for what was written
// and for what is read back at any time.
JournalEntry WithoutSecrets(JournalEntry entry);

// Puts a secret back; `where` names its row in errors. An empty blob is an erased one.
absl::Status PutSecret(std::string_view blob, const std::string& where, Program* program);
absl::Status PutSecrets(std::string_view blob, const std::string& where, JobSubmitted* event);

}  // namespace muster::daemon
