#pragma once

// `muster alloc` while its allocation lives: the wait, the command here, the job's end.
//
// The allocation is a batch job whose script tells its environment over the step's connection and
// then waits for an exit code on its standard input; when we are gone its supervisor ends it.
// Thread promise: the loop's owner. Invariants: the command is started at most once, after the job
// has; Run() returns when the command has ended and the job's end was seen, or waited for long
// enough.

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/controller/connection.h"
#include "cli/controller/job_watch.h"
#include "cli/frame/environment.h"
#include "cli/request/job_environment.h"
#include "cli/run/stream/step_io.h"
#include "cli/run/stream/step_listener.h"
#include "scheduler/runtime/event_loop.h"

namespace muster::cli {

// What a person reads of an allocation; a function that returns "" says nothing.
struct AllocTexts {
  const char* speaker;
  std::string (*pending)(JobId job, const std::string& why);
  std::string (*granted)(JobId job, const std::string& nodes);
  std::string (*ended)(JobId job, const std::string& how);  // before the command did
  std::string (*relinquished)(JobId job);
  bool refuses_misfits = false;  // of what the known nodes can never hold nothing is made
};

// As `muster alloc` says it.
AllocTexts OwnAllocTexts();

struct AllocPlan {
  JobId job;
  std::string token;                 // of the script's connection
  std::string program;               // the command's file
  std::vector<std::string> command;  // with its arguments
  std::string work_dir;
  Environment environment;  // ours
  std::string controller;   // the address that `muster` in the command calls
  AllocTexts texts = OwnAllocTexts();
};

// The script of an allocation.
std::string AllocationScript();

class AllocSession {
 public:
  // `signals` comes from BlockSignals, SIGCHLD among them; all references outlive the session.
  AllocSession(EventLoop& loop, Connection& connection, StepListener& listener,
               const UniqueFd& signals, AllocPlan plan);
  AllocSession(const AllocSession&) = delete;
  AllocSession& operator=(const AllocSession&) = delete;
  ~AllocSession();

  // The command's exit code, 128 + signal; 1 when the job ended first.
  absl::StatusOr<int> Run();

 private:
  void OnNews(const JobNews& news);
  void OnOutput(bool error, std::string_view bytes);
  void OnSignals();
  void OnSignal(int signal);
  void Begin();
  void Reap();
  void Release(int code);
  void JobEnded();
  void GiveUp(int signal);
  void CancelJob();
  void TellWaiting();
  void Tell(const std::string& line) const;
  void Finish(int code);

  EventLoop& loop_;
  Connection& connection_;
  StepListener& listener_;
  const UniqueFd& signals_;
  const AllocPlan plan_;
  StepSession step_;
  std::unique_ptr<JobWatch> watch_;
  JobEnvironmentReader reader_;
  JobNews news_;
  bool begun_ = false;    // the job's script is heard
  bool in_hand_ = false;  // the command was begun
  bool job_ended_ = false;
  bool released_ = false;  // the command has ended, and the script knows
  std::optional<pid_t> child_;
  std::string waiting_told_;
  int exit_code_ = 0;
};

}  // namespace muster::cli
