#pragma once

// The words "KEY=VALUE" of scontrol's update, create and delete.
//
// Pure. Invariant: a key is in lower case and not empty.

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace muster::cli::slurm {

struct KeyValue {
  std::string key;  // in lower case
  std::string value;
  std::string name;  // the key as it was written
};
using KeyValues = std::vector<KeyValue>;

// "job 7" begins like JobId=7. InvalidArgument: a line for stderr, as Slurm writes it.
absl::StatusOr<KeyValues> ReadKeyValues(const std::vector<std::string>& words);

bool HasKey(const KeyValues& pairs, const std::string& key);
// Of the first; "" where the key is not there.
std::string ValueOf(const KeyValues& pairs, const std::string& key);

}  // namespace muster::cli::slurm
