#pragma once

// One run of a program of the site: a prolog or an epilog, of a job or of a step.
//
// It runs in a process group of its own with an environment that no user has a word in, the facts
// about the job in it, what the user wrote (names, directories) as lines NAME=VALUE on its standard
// input, and
// "/" as its working directory. Whether it may run as root is asked of the file first. Thread
// promise: the loop's thread. Invariants: `done` is called once, from the loop, unless the run is
// destroyed first; when it is called nothing of the script's process group is left.

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "agent/supervisor/attempt/site_script.h"
#include "agent/supervisor/user_space/job_user.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

// The last lines of what a script printed, on one line, escaped and short enough for a reason.
std::string LastLines(const std::string& said);

class ScriptRun {
 public:
  // The error says what became of the script, with its last lines: "prolog /etc/p: exit code 1: no
  // disk".
  using Done = std::function<void(const absl::Status&)>;

  struct Request {
    std::string what;  // "prolog"
    SiteScript script;
    std::vector<std::string> environment;
    std::string input;              // for its standard input
    const JobUser* user = nullptr;  // the user of "as_user"; null: ours
  };

  ScriptRun(EventLoop& loop, Request request, Done done);
  ScriptRun(const ScriptRun&) = delete;
  ScriptRun& operator=(const ScriptRun&) = delete;
  ~ScriptRun();

  [[nodiscard]] bool Owns(pid_t pid) const { return pid == pid_; }
  // Its process has ended and still has its number: ends the rest of its group.
  void BeforeReap() const;
  // And was waited for.
  void Reaped(int wait_status);

 private:
  absl::Status Start();
  void TimeOut();
  void Read();
  void Finish(absl::Status status);
  [[nodiscard]] absl::Status Judge(int wait_status);

  EventLoop& loop_;
  const Request request_;
  Done done_;
  pid_t pid_ = -1;
  UniqueFd said_;     // whether it could be started
  UniqueFd output_;   // standard output and error
  std::string text_;  // the end of its output
  bool timed_out_ = false;
  EventLoop::TimerId timer_{};
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace muster::agent
