#pragma once

// A kernel as a job on some whole nodes, and what it reported.
//
// Thread promise: any thread; waits for the job. Invariant: the job is none of another's: inside of
// one it is submitted all the same.

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/frame/json_output.h"
#include "cli/frame/verb.h"
#include "cli/links/link_rounds.h"
#include "cli/links/link_verdict.h"

namespace muster::cli {

class LinkRun {
 public:
  // NotFound: the kernel's program is not there.
  static absl::StatusOr<LinkRun> Make(const Invocation& invocation, const char* kernel);

  // Its document, by that many ranks on each of the nodes. Unavailable: why it cannot be measured
  // there; else what became of it.
  [[nodiscard]] absl::StatusOr<Json> On(const std::vector<std::string>& nodes, std::uint32_t ranks,
                                        const std::vector<std::string>& job_options,
                                        const std::vector<std::string>& kernel_options) const;

 private:
  LinkRun(const Environment& environment, std::vector<std::string> words, std::string program)
      : environment_(environment), words_(std::move(words)), program_(std::move(program)) {}

  const Environment& environment_;
  std::vector<std::string> words_;
  std::string program_;
};

// The link has what its run reported of latency and bandwidth, or why there is nothing.
void TakeReport(const absl::StatusOr<Json>& document, MeasuredLink& link);

// The links of the pairs that `wanted` names, those of a round at once; `title` is shown meanwhile.
std::vector<MeasuredLink> MeasureRounds(const std::string& title,
                                        const std::vector<LinkRound>& rounds,
                                        const std::function<bool(std::size_t, std::size_t)>& wanted,
                                        const std::function<void(MeasuredLink&)>& measure);

}  // namespace muster::cli
