#pragma once

// The messages between the supervisor and the process of the job's user that serves PMIx
// (proto/pmix.proto): frames, and what the supervisor believes of what that process says.
//
// That process belongs to the user, who may do with it what he likes. Invariants: (1) a
// PmixFrameReader keeps at most one frame and what was given at once; (2) a reply that
// CheckPmixReply takes names ranks of its own step alone, and brings variables that are PMIx's or
// Open MPI's and nothing else.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "agent/supervisor/pmix/pmix_loader.h"
#include "proto/pmix.pb.h"

namespace muster::agent {

// A fence brings at most 48 MiB (Gathering::kBytesMax).
inline constexpr std::size_t kPmixFrameBytesMax = std::size_t{50} << 20;

// Appends the frame of a message. REQUIRES: it is no larger than kPmixFrameBytesMax.
void AppendFrame(const google::protobuf::MessageLite& message, std::string* bytes);

class PmixFrameReader {
 public:
  // Bytes that came; whole frames are appended to `frames`. InvalidArgument: one is too large, and
  // the reader is of no use any more.
  absl::Status Take(std::string_view bytes, std::vector<std::string>* frames);

 private:
  std::string kept_;
};

wire::PmixStart StartRequest(const PmixStepConfig& step);
PmixStepConfig StepOf(const wire::PmixStart& start);

// InvalidArgument, with the reason, when the process that serves `step` may not say that.
absl::Status CheckPmixReply(const wire::PmixReply& reply, const PmixStepConfig& step);

}  // namespace muster::agent
