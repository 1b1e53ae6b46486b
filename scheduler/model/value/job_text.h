#pragma once

// Texts that a user gives a job: its name, its account, a type of GPU, a comment.
//
// They stand in tables and logs, one to a line. Invariant: what is accepted holds no control
// character and is no longer than its limit.

#include <cstddef>
#include <string>

#include "absl/status/status.h"

namespace muster {

// Names of a job, an account, a variable.
inline constexpr std::size_t kJobNameBytesMax = 200;

bool HasControl(const std::string& text);

// InvalidArgument names the option, and says what is wrong with the text.
absl::Status CheckJobText(const char* option, const std::string& text, std::size_t bytes_max);

}  // namespace muster
