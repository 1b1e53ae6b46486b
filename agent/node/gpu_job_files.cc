#include "agent/node/gpu_job_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/attempt/replace_file.h"

namespace muster::agent {
namespace {

constexpr mode_t kForEverybody = 0644;  // the exporter may be another user

std::string LinesOf(const std::set<std::uint64_t>& jobs) {
  std::string lines;
  for (const std::uint64_t job : jobs) {
    absl::StrAppend(&lines, job, "\n");
  }
  return lines;
}

}  // namespace

std::string GpuJobFiles::PathOf(std::uint32_t gpu) const {
  return absl::StrCat(directory_, "/", machine_.gpus[gpu].os_index);
}

void GpuJobFiles::Write(const std::map<AttemptKey, RunningAttempt>& running) {
  if (directory_.empty()) {
    return;
  }
  std::map<std::uint32_t, std::set<std::uint64_t>> now;
  for (const auto& [key, attempt] : running) {
    for (std::size_t i = 0; attempt.part != nullptr && i < attempt.part->gpus.size(); ++i) {
      now[attempt.part->gpus[i].gpu].insert(key.job.value());
    }
  }
  for (std::uint32_t gpu = 0; gpu < machine_.gpus.size(); ++gpu) {
    const std::set<std::uint64_t>& jobs = now[gpu];
    if (begun_ && jobs == written_[gpu]) {
      continue;
    }
    const std::string path = PathOf(gpu);
    const bool done = jobs.empty() ? unlink(path.c_str()) == 0 || access(path.c_str(), F_OK) != 0
                                   : ReplaceFile(path, LinesOf(jobs)).ok() &&
                                         chmod(path.c_str(), kForEverybody) == 0;
    if (done) {
      written_[gpu] = jobs;
    }
  }
  begun_ = true;
}

}  // namespace muster::agent
