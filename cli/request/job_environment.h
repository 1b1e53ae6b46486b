#pragma once

// The environment of a job as its first node knows it, and what of it holds elsewhere.
//
// The script of an allocation writes its environment to `muster alloc`, entry by entry with a NUL
// after each and one more at the end. Thread promise: one owner; the function is pure. Invariant:
// nothing is taken after the end.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/frame/environment.h"

namespace muster::cli {

class JobEnvironmentReader {
 public:
  // Some bytes of it; true once it is whole.
  bool Take(std::string_view bytes);
  const std::vector<std::string>& entries() const { return entries_; }

 private:
  std::string unfinished_;
  std::vector<std::string> entries_;  // "NAME=value"
  bool whole_ = false;
};

// `own` as a command in the allocation has it: with what `job` says of the job (MUSTER_*, SLURM_*)
// but not of the node that sent it, without what an enclosing job set, and with `controller` as the
// address to call.
std::vector<std::string> EnvironmentInside(const Environment& own,
                                           const std::vector<std::string>& job,
                                           const std::string& controller);

}  // namespace muster::cli
