#include "agent/supervisor/supervise.h"

#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "agent/supervisor/attempt/journal.h"
#include "agent/supervisor/attempt/order_file.h"
#include "agent/supervisor/checkpoint/checkpoint_flush.h"
#include "agent/supervisor/mpirun/host_file.h"
#include "agent/supervisor/supervisor.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/signals.h"

namespace muster::agent {
namespace {

// An order that nobody can read is an end too: the controller must hear of it.
absl::Status RecordUnreadable(const AttemptDirectory& directory, const Clock& clock,
                              const absl::Status& why) {
  JobId job;
  AttemptNumber attempt;
  RETURN_IF_ERROR(AttemptDirectory::ParseName(directory.Name(), &job, &attempt));
  ASSIGN_OR_RETURN(JournalWriter journal, JournalWriter::Open(directory.Journal(), job, attempt));
  RunEnded fact;
  fact.time = clock.Now();
  fact.cause = EndCause::kLaunchFailed;
  fact.text = std::string(why.message());
  return journal.Append(std::move(fact));
}

}  // namespace

absl::Status Supervise(const AttemptDirectory& directory, const Clock& clock, const Logger& log) {
  absl::StatusOr<SupervisorOrder> order = ReadOrder(directory.Order());
  if (!order.ok()) {
    RETURN_IF_ERROR(RecordUnreadable(directory, clock, order.status()));
    return order.status();
  }
  ASSIGN_OR_RETURN(UniqueFd signals, BlockSignals({SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT,
                                                   SIGUSR1, SIGUSR2, SIGALRM}));
  ASSIGN_OR_RETURN(const std::unique_ptr<EventLoop> loop, EventLoop::Create());
  ASSIGN_OR_RETURN(
      JournalWriter journal,
      JournalWriter::Open(directory.Journal(), order->launch.job, order->launch.attempt));
  order->checkpoint_hints = directory.CheckpointHints();
  order->checkpoint_progress = directory.CheckpointProgress();
  std::error_code unknown;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", unknown).string();
  order->flush_program = FindFlushProgram(self);
  order->remote_shell = FindRemoteShell(self);
  order->hostfile = directory.Hostfile();
  const LaunchOrder& launch = order->launch;
  if (launch.spec.progress_timeout > Duration(0) && launch.program.progress_path.empty() &&
      order->node_name == launch.allocation.nodes.front().name) {
    order->progress_file = directory.Progress();
  }
  Supervisor supervisor(*loop, clock, log, directory, *std::move(order), std::move(journal),
                        std::move(signals));
  return supervisor.Run();
}

}  // namespace muster::agent
