#pragma once

// The values that a submission's fields hold, in each of the forms that slurmrestd takes.
//
// Pure. Invariants: an error names the field; null, "", [] and {"set": false} say nothing.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/gateway/slurm/slurm_values.h"
#include "scheduler/model/change/command.h"

namespace muster::daemon::slurm {

// What takes one field into the submission.
using FieldReader =
    std::function<absl::Status(const std::string& name, const Json& value, SubmitJob& job)>;
using FieldTable = std::map<std::string, FieldReader>;

absl::Status BadField(const std::string& name, const std::string& why);
// An error of a reader that does not know the field's name.
absl::Status InField(const std::string& name, const absl::Status& status);

bool SaysNothing(const Json& value);

absl::StatusOr<std::string> TextIn(const std::string& name, const Json& value);
// 7, "7", or {"set": true, "number": 7}; not set: nothing.
absl::StatusOr<std::optional<std::uint64_t>> NumberIn(const std::string& name, const Json& value);
// The same in 32 bits; nothing said is 0.
absl::StatusOr<std::uint32_t> CountIn(const std::string& name, const Json& value);
absl::StatusOr<bool> SwitchIn(const std::string& name, const Json& value);
// ["a", "b"] or "a,b".
absl::StatusOr<std::vector<std::string>> WordsIn(const std::string& name, const Json& value);

FieldReader Text(void (*set)(SubmitJob& job, std::string text));
FieldReader Whole(void (*set)(SubmitJob& job, std::uint32_t number));
FieldReader Switch(void (*set)(SubmitJob& job, bool on));
// A text in the words of Slurm's option, which `read` reads.
FieldReader Worded(absl::Status (*read)(SubmitJob& job, const std::string& text));
// What has no effect here and is kept with the job under the option's name, as sbatch does.
FieldReader Recorded(const std::string& option);

}  // namespace muster::daemon::slurm
