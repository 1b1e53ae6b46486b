#pragma once

// A drill from its submission to its end: the job, its directory, and what is seen of both jobs.
//
// Thread promise: the main thread's. Invariants: the original's directory is read and never
// written; once Begin was called, End ends the drill's job, and removes its directory unless that
// is to be kept, however far Begin came.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/controller/controller.h"
#include "cli/drill/drill_request.h"
#include "cli/drill/drill_verdict.h"
#include "cli/drill/drilled_checkpoint.h"
#include "cli/drill/generation_print.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::cli {

// The job that is drilled, and what it would restart from.
struct DrillSubject {
  JobSelector selector;
  JobDetail job;
  Submission submission = {};
  std::string directory = {};
  checkpoint::Store store = {};
  DrilledGeneration generation = {};
};

// Where the drill reads and whom it tells.
struct DrillContext {
  Connection& connection;
  const Invocation& invocation;
  const UniqueFd& signals;  // of BlockSignals
  bool local = true;        // the controller is on this machine
};

class DrillRun {
 public:
  DrillRun(const DrillContext& context, const DrillOptions& options, DrillSubject subject);
  DrillRun(const DrillRun&) = delete;
  DrillRun& operator=(const DrillRun&) = delete;

  // Submits the job, makes its copy of the checkpoint, and lets it go.
  absl::Status Begin();
  // Until there is something to judge, the time is over, or a signal comes.
  absl::Status Watch();
  // REQUIRES: Begin was called. Says what is left behind when that cannot be cleared away.
  absl::Status End();

  const DrillFacts& facts() const { return facts_; }

 private:
  using Prints = std::map<std::uint64_t, GenerationPrint>;

  absl::Status MakeDirectory();
  absl::Status Submit();
  absl::Status Copy();
  absl::Status Release();
  absl::Status Look();
  void LookAtDrill(const JobDetail& detail);
  // Those that are new, from number `first` on, but for the one that the drill starts from.
  void Collect(const checkpoint::Store& store, std::uint64_t first, Prints* prints,
               std::set<std::uint64_t>* bad) const;
  void Compare();
  bool Over() const;
  bool Interrupted(int wait_ms);
  absl::StatusOr<JobDetail> Detail(const JobSelector& selector);
  absl::Status EndJob();
  void ReadValues();
  void ReadLastLines();
  bool TouchedOriginal() const;
  void Say(const std::string& line);

  const DrillContext context_;
  const DrillOptions options_;
  DrillSubject subject_;
  DrillFacts facts_;
  std::string place_;       // its directory; empty: none is made
  JobSelector drill_;       // an invalid number: none is submitted
  std::string label_;       // the number by which its programs know it
  std::string said_;        // the last line
  Prints original_prints_;  // generations after the one that it starts from
  Prints drill_prints_;
  std::set<std::uint64_t> original_bad_;
  std::set<std::uint64_t> drill_bad_;
  std::uint64_t original_newest_ = 0;
};

}  // namespace muster::cli
