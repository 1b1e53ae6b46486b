#pragma once

// The line of a job's record by which runs of one program are known.
//
// Invariant: two jobs with the same line have the same script and command.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

inline constexpr std::string_view kProgramRecord = "program";  // "program=9f86d081884c7d65"

// The line; empty when the record has none.
inline std::string ProgramLineOf(const std::vector<std::string>& record) {
  const auto found = std::find_if(record.begin(), record.end(), [](const std::string& line) {
    return line.size() > kProgramRecord.size() && line[kProgramRecord.size()] == '=' &&
           line.compare(0, kProgramRecord.size(), kProgramRecord) == 0;
  });
  return found == record.end() ? std::string() : *found;
}

}  // namespace muster
