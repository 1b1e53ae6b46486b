#pragma once

// The results of simulations in a file, one JSON object a line, so that a stopped search goes on.
//
// Invariants: a line stands for one workload and one choice of settings; lines of other workloads
// and broken ones are left as they are and count for nothing.

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "cli/tune/tune_trial.h"

namespace muster::cli {

class TuneResults {
 public:
  // In memory only where `path` is empty.
  static absl::StatusOr<std::unique_ptr<TuneResults>> Open(const std::string& path,
                                                           std::uint64_t workload);
  ~TuneResults();
  TuneResults(const TuneResults&) = delete;
  TuneResults& operator=(const TuneResults&) = delete;

  [[nodiscard]] std::optional<TuneTrial> Find(const std::string& key) const;
  absl::Status Add(const std::string& key, const TuneTrial& trial);
  // How many were known when it was opened.
  [[nodiscard]] std::size_t found() const { return found_; }

 private:
  explicit TuneResults(std::uint64_t workload) : workload_(workload) {}

  std::uint64_t workload_;
  mutable std::mutex mutex_;
  std::map<std::string, TuneTrial> trials_;  // guarded by mutex_
  std::FILE* file_ = nullptr;
  std::size_t found_ = 0;
};

}  // namespace muster::cli
