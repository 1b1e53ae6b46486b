#pragma once

// What is kept of the GPUs of an attempt's ranks while it runs, and goes into the report of its
// end: a file of the attempt's directory, for the agent that comes next.
//
// Invariants: a reader sees one record whole; a file that is not there, or not one of these, is an
// empty record.

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "agent/node/pace/rank_list.h"
#include "scheduler/model/job/report.h"
#include "scheduler/model/machine/gpu_work.h"

namespace muster::agent {

struct GpuRecord {
  static constexpr std::size_t kRanksMost = 1024;  // those of the newest steps
  static constexpr std::size_t kErrorsMost = 64;   // the first

  std::map<RankName, GpuWork> work = {};
  std::vector<std::string> errors = {};

  // Of a rank whose GPUs did that since the last look.
  void Add(const RankName& rank, const GpuWork& more);
  // Each once.
  void AddErrors(const std::vector<std::string>& texts);
  void AddTo(RunEnded& end) const;
  friend bool operator==(const GpuRecord&, const GpuRecord&) = default;
};

GpuRecord ReadGpuRecord(const std::string& path);
// One that cannot be written is lost; the next has it too.
void WriteGpuRecord(const std::string& path, const GpuRecord& record);

}  // namespace muster::agent
