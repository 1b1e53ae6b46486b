#pragma once

// An attempt's directory on its node: which files it holds, which process claimed it, what was
// acknowledged.
//
// Made by the agent (mode 0700) before it spawns the supervisor; removed by the agent once the
// controller acknowledged the attempt's last report. proto/supervisor.proto describes the files.
// Invariants: (1) a claim appears whole or not at all, and never changes; (2) the acked number
// never decreases.

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/runtime/process.h"

namespace muster::agent {

class AttemptDirectory {
 public:
  explicit AttemptDirectory(std::string path) : path_(std::move(path)) {}

  // "<job>.<attempt>", the directory's own name.
  static std::string NameOf(JobId job, AttemptNumber attempt);
  // The job and attempt of such a name; InvalidArgument for any other text.
  static absl::Status ParseName(std::string_view name, JobId* job, AttemptNumber* attempt);

  [[nodiscard]] const std::string& path() const { return path_; }
  // The last component of path().
  [[nodiscard]] std::string Name() const;
  [[nodiscard]] std::string Order() const { return path_ + "/order"; }
  [[nodiscard]] std::string Claim() const { return path_ + "/claim"; }
  // Who runs, or ran, the site's epilog: made as the claim is, before the epilog begins.
  [[nodiscard]] std::string EpilogClaim() const { return path_ + "/epilog"; }
  [[nodiscard]] std::string Journal() const { return path_ + "/journal"; }
  [[nodiscard]] std::string Acked() const { return path_ + "/acked"; }
  [[nodiscard]] std::string Control() const { return path_ + "/control"; }
  [[nodiscard]] std::string Script() const { return path_ + "/script"; }
  [[nodiscard]] std::string Log() const { return path_ + "/log"; }
  // Holds what is /tmp to the attempt, where it has one of its own.
  [[nodiscard]] std::string Tmp() const { return path_ + "/tmp"; }
  // What the agent sampled of its use.
  [[nodiscard]] std::string Sampled() const { return path_ + "/sampled"; }
  // What it keeps of the GPUs of its ranks.
  [[nodiscard]] std::string Gpus() const { return path_ + "/gpus"; }
  // The job's nodes, for an `mpirun` in its script.
  [[nodiscard]] std::string Hostfile() const { return path_ + "/hostfile"; }
  // The page of checkpoint hints that the job's programs map.
  [[nodiscard]] std::string CheckpointHints() const { return path_ + "/checkpoint-hints"; }
  // The page on which they tell of their checkpoints.
  [[nodiscard]] std::string CheckpointProgress() const { return path_ + "/checkpoint-progress"; }
  // What a job touches to show that it makes progress, unless it names a file of its own.
  [[nodiscard]] std::string Progress() const { return path_ + "/progress"; }
  // The socket on which the job's programs say how they get on, and what they said.
  [[nodiscard]] std::string ReportSocket() const { return path_ + "/report"; }
  [[nodiscard]] std::string Reported() const { return path_ + "/reported"; }
  // Where PMIx keeps its sockets and the ranks' session directories.
  [[nodiscard]] std::string Pmix() const { return path_ + "/pmix"; }

 private:
  std::string path_;
};

// Makes `self` the attempt's supervisor. AlreadyExists when another process is.
absl::Status TakeClaim(const AttemptDirectory& directory, const ProcessIdentity& self);

// The process that supervises the attempt; NotFound when none has claimed it.
absl::StatusOr<ProcessIdentity> ReadClaim(const AttemptDirectory& directory);

// The same of the process that runs the site's epilog, which runs once.
absl::Status TakeEpilogClaim(const AttemptDirectory& directory, const ProcessIdentity& self);
absl::StatusOr<ProcessIdentity> ReadEpilogClaim(const AttemptDirectory& directory);

// The number of the last report that the controller acknowledged; 0 when none was.
absl::StatusOr<std::uint64_t> ReadAcked(const AttemptDirectory& directory);
absl::Status WriteAcked(const AttemptDirectory& directory, std::uint64_t index);

}  // namespace muster::agent
