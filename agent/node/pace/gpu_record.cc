#include "agent/node/pace/gpu_record.h"

#include <algorithm>
#include <iterator>

#include "absl/status/statusor.h"
#include "agent/supervisor/attempt/replace_file.h"
#include "proto/convert/job.h"
#include "proto/supervisor.pb.h"
#include "scheduler/runtime/file.h"

namespace muster::agent {

void GpuRecord::Add(const RankName& rank, const GpuWork& more) {
  work[rank].Add(more);
  while (work.size() > kRanksMost) {
    // The script is the first, and stays.
    work.erase(work.begin()->first == RankName() ? std::next(work.begin()) : work.begin());
  }
}

void GpuRecord::AddErrors(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    if (errors.size() < kErrorsMost &&
        std::find(errors.begin(), errors.end(), text) == errors.end()) {
      errors.push_back(text);
    }
  }
}

void GpuRecord::AddTo(RunEnded& end) const {
  for (const auto& [rank, done] : work) {
    end.gpu_work.push_back({StepId(rank.step), rank.rank, done});
  }
  end.gpu_errors = errors;
}

GpuRecord ReadGpuRecord(const std::string& path) {
  const absl::StatusOr<std::string> bytes = ReadFile(path);
  wire::GpuRecord message;
  GpuRecord record;
  if (!bytes.ok() || !message.ParseFromString(*bytes)) {
    return record;
  }
  for (const wire::RankGpuWork& one : message.work()) {
    RankGpuWork work;
    if (FromWire(one, &work).ok()) {
      record.work[{work.step.value(), work.rank}] = work.work;
    }
  }
  record.errors.assign(message.errors().begin(), message.errors().end());
  return record;
}

void WriteGpuRecord(const std::string& path, const GpuRecord& record) {
  wire::GpuRecord message;
  for (const auto& [rank, done] : record.work) {
    ToWire(RankGpuWork{StepId(rank.step), rank.rank, done}, message.add_work());
  }
  message.mutable_errors()->Assign(record.errors.begin(), record.errors.end());
  ReplaceFile(path, message.SerializeAsString()).IgnoreError();  // the next has it too
}

}  // namespace muster::agent
