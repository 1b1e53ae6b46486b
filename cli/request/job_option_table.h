#pragma once

// The table of request options: name, help, and how a value is read into a request.
//
// Read by job_options; in a file of its own because it is long. Invariants: names and letters are
// unique; an option that this version lacks has no reader and an empty text.

#include <span>
#include <string>

#include "absl/status/status.h"
#include "cli/request/job_request.h"

namespace muster::cli {

// Reads `value` into `request`; an error has no place yet.
using Reader = absl::Status (*)(const std::string& value, const ParseContext& context,
                                JobRequest* request);

struct JobOption {
  const char* name;
  const char* letter;   // "": none
  const char* metavar;  // "": a flag
  const char* text;
  Reader read;  // null: not in this version
  bool submit;
  bool run;
};

std::span<const JobOption> AllJobOptions();
// Null when there is none of that name, or letter.
const JobOption* FindJobOption(const std::string& name);
const JobOption* FindJobOption(char letter);

}  // namespace muster::cli
