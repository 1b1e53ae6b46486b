#pragma once

// A file of submissions, one a line, each as the words that `muster submit` would be given.
//
// Thread promise: the main thread's. Invariants: a file with one bad line submits nothing; what is
// read was checked and can be sent.

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/controller/address.h"
#include "cli/frame/verb.h"
#include "cli/request/job_request.h"
#include "cli/request/request.h"

namespace muster::cli {

struct BatchLine {
  std::size_t number = 0;  // of the line, from 1
  JobRequest request;
};

// `asked` is the submission as it was called: its options hold for every line, and the line's own
// win. `verb` is what it was called by. InvalidArgument says "FILE:LINE: …".
absl::StatusOr<std::vector<BatchLine>> ReadBatchFile(const Verb& verb, const Invocation& asked,
                                                     const std::string& path,
                                                     const Address& address);

// The script that the words of a submission name: --wrap, a file or standard input.
absl::StatusOr<Script> ReadScriptOf(const Invocation& invocation);

}  // namespace muster::cli
