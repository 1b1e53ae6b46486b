#pragma once

// A complete generation that stays readable under one name while it is copied, also when it is
// retired meanwhile.
//
// Its files are open, and a directory of links to them stands for it. Where they cannot all be
// open at once it is the generation's own directory, and a copy that takes longer than it is kept
// fails. Thread promise: one owner. Invariant: it changes nothing in the store.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "checkpoint/store/store.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::cli {

class HeldGeneration {
 public:
  static absl::StatusOr<HeldGeneration> Hold(const checkpoint::Store& store,
                                             std::uint64_t generation);
  HeldGeneration(HeldGeneration&& other) noexcept;
  HeldGeneration& operator=(HeldGeneration&& other) = delete;
  HeldGeneration(const HeldGeneration&) = delete;
  HeldGeneration& operator=(const HeldGeneration&) = delete;
  ~HeldGeneration();

  // Of a directory; links in it are to be followed.
  const std::string& path() const { return path_; }
  const checkpoint::Manifest& manifest() const { return manifest_; }

 private:
  HeldGeneration() = default;
  bool LinkAll(const std::string& own, const std::vector<std::string>& names);

  std::string path_;
  bool linked_ = false;  // path_ is ours
  std::vector<UniqueFd> files_;
  checkpoint::Manifest manifest_;
};

}  // namespace muster::cli
