#pragma once

// Values in blob columns: the wire's messages, written and read through proto/convert.
//
// Included by the store's .cc files only, for it brings protobuf along. Invariants: what Encode
// wrote, Decode reads, in this version and in every later one.

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/convert/bytes.h"

namespace muster::daemon {

// Writes `value` into `*blob` as a wire message.
template <class Model>
void Encode(const Model& value, std::string* blob) {
  blob->clear();
  AppendWire(value, blob);
}

// An error of a blob that cannot be understood; `where` names the file and the row.
inline absl::Status Unreadable(const std::string& where, const std::string& why) {
  return absl::DataLossError(
      absl::StrCat(where, ": ", why, "; restore the file from a backup, or run a newer version"));
}

// Reads the wire message in `blob` into `*value`.
template <class Model>
absl::Status Decode(std::string_view blob, const std::string& where, Model* value) {
  const absl::Status status = ReadWire(blob, value);
  return status.ok() ? status : Unreadable(where, std::string(status.message()));
}

}  // namespace muster::daemon
