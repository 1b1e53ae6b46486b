#pragma once

// The process of the job's user that serves PMIx to the ranks of an attempt, from the supervisor's
// side.
//
// libpmix reads what ranks say and loads what their user configures; neither is to happen in root's
// supervisor. So a child that has become the user for good, in the attempt's control group, loads
// it (pmix_host.h), and speaks with us through a socket pair. Where the variables of ranks are
// known without it, it is started when somebody calls at the socket that ranks know, which listens
// here until then. Thread promise: the loop's thread, on which the handlers are called.
// Invariants: (1) what it says is believed of its own steps alone, and a word that it may not say
// ends it; (2) nothing here waits for it but StartStep, within its limit; (3) what it said before a
// rank ended is known once Hear() has returned; (4) it ends when the process and its last step have
// been let go; (5) nobody here takes a call: that is the child's; (6) a step's directory of shared
// segments goes with the step, or is named to `on_segments`.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/supervisor/launch/launch.h"
#include "agent/supervisor/pmix/pmix_loader.h"
#include "agent/supervisor/pmix/pmix_wire.h"
#include "agent/supervisor/user_space/job_user.h"
#include "scheduler/model/value/time.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

struct PmixProcessConfig {
  std::string program = "/proc/self/exe";  // which runs ServePmix: ourselves, even when replaced
  std::string module_dir;
  PmixServerConfig server;
  const JobUser* user = nullptr;  // null: as we do
  int cgroup = -1;                // as in LaunchRequest
  int cgroup_directory = -1;
  int mounts = -1;  // as in LaunchRequest: of the ranks, with whose /dev/shm it has to do
  Duration start_limit{8000};
  // Of the variables, learned from an earlier one of that user: it holds as far as is known, and
  // the process is started when somebody calls. None: it is started at once.
  std::vector<std::string> pattern;
  // One was learned; nothing: that which was given does not hold.
  std::function<void(const std::vector<std::string>&)> on_pattern;
  // A step has ended, and the process is to remove this directory of its segments; it is there
  // still if the process was killed meanwhile.
  std::function<void(const std::string& directory)> on_segments;
  // Before it is started: makes what it needs, and sets the control group. Empty: nothing is
  // needed.
  std::function<absl::Status(PmixProcessConfig*)> prepare;
};

struct PmixProcessHandlers {
  PmixHandlers ranks;
  // The process has ended or was ended while it served the step; nothing else is called then.
  std::function<void(const std::string& why)> on_lost;
};

// Removes what a step has left there, as its user; waits for it, 2 s at most.
void RemovePmixSegments(const JobUser* user, const std::string& directory);

class PmixProcess;

// A step that it serves; its end forgets the step.
class ServedStep {
 public:
  ~ServedStep();
  ServedStep(const ServedStep&) = delete;
  ServedStep& operator=(const ServedStep&) = delete;

  // See PmixStep.
  [[nodiscard]] absl::StatusOr<std::vector<std::string>> RankEnv(std::uint32_t rank) const;
  void FinishFence(std::uint64_t id, const std::string& data);
  void FinishModex(std::uint64_t id, const std::optional<std::string>& data);
  void AskPublished(std::uint32_t rank, std::uint64_t id);
  // Takes in what the process has said up to now.
  void Hear();

 private:
  friend class PmixProcess;
  ServedStep(std::shared_ptr<PmixProcess> process, std::uint64_t number, PmixStepConfig config,
             PmixProcessHandlers handlers)
      : process_(std::move(process)),
        number_(number),
        config_(std::move(config)),
        handlers_(std::move(handlers)) {}

  const std::shared_ptr<PmixProcess> process_;
  const std::uint64_t number_;
  const PmixStepConfig config_;
  const PmixProcessHandlers handlers_;
  bool answered_ = false;                                        // that it is started
  std::map<std::uint32_t, std::vector<std::string>> variables_;  // by rank
};

class PmixProcess : public std::enable_shared_from_this<PmixProcess> {
 public:
  // NotFound when the module is not there; else the first step says what went wrong.
  static absl::StatusOr<std::shared_ptr<PmixProcess>> Start(EventLoop& loop,
                                                            PmixProcessConfig config);
  PmixProcess(const PmixProcess&) = delete;
  PmixProcess& operator=(const PmixProcess&) = delete;
  ~PmixProcess();

  // The handlers may be called before this returns.
  absl::StatusOr<std::unique_ptr<ServedStep>> StartStep(PmixStepConfig config,
                                                        PmixProcessHandlers handlers);
  // False once it has ended, or its pattern does not hold: another one is to be started for the
  // next step.
  [[nodiscard]] bool alive() const { return (socket_.valid() || !called_) && !misled_; }
  // Whether it was started: not before somebody called.
  [[nodiscard]] bool called() const { return called_; }

 private:
  friend class ServedStep;
  struct Question {
    std::uint64_t step = 0;
    std::size_t size = 0;
  };

  PmixProcess(EventLoop& loop, PmixProcessConfig config)
      : loop_(loop), config_(std::move(config)), called_(config_.pattern.empty()) {}
  // Starts it, and hands it the door, if there is one.
  absl::Status Launch();
  absl::Status OpenDoor();
  void CloseDoor();
  // Somebody calls, or is to be answered: starts it with all steps, unless it runs.
  void Call();
  // Begins a step of which it will be told when somebody calls.
  absl::Status BeginBehindDoor(ServedStep* step);
  // Waits until the step has been answered.
  absl::Status Await(ServedStep* step);
  void Send(const wire::PmixRequest& request);
  void Write();
  // False when there is nothing more to read now.
  bool Read();
  absl::Status Take(const std::string& frame);
  absl::Status Remember(std::uint64_t step, std::uint64_t id, std::size_t size);
  void Forget(const ServedStep& step);
  void Tell(ServedStep* step, const wire::PmixReply& reply);
  void Lose(const std::string& why);
  void ForgetPattern() const;
  [[nodiscard]] std::string WhyItEnded() const;

  EventLoop& loop_;
  PmixProcessConfig config_;
  UniqueFd door_;        // valid: it has not been started, and there are steps
  int port_ = 0;         // of the door
  bool called_ = false;  // it was started
  bool misled_ = false;  // by its pattern
  bool joined_ = false;  // some rank
  UniqueFd socket_;      // not valid: it has ended, or was not started
  UniqueFd pidfd_;
  UniqueFd said_;    // of its launch
  std::string why_;  // it has ended
  std::string outgoing_;
  PmixFrameReader reader_;
  std::uint64_t next_step_ = 1;
  std::map<std::uint64_t, ServedStep*> steps_;
  std::map<std::uint64_t, Question> open_;  // what it asked and has no answer to
  std::size_t open_bytes_ = 0;
  std::optional<wire::PmixReply> started_;  // for Await()
};

}  // namespace muster::agent
