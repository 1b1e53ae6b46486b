#include "cli/service/replica/replica_keeper.h"

#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "cli/controller/controller.h"
#include "cli/page/text.h"
#include "cli/service/replica/health_probe.h"
#include "cli/service/replica/replica_note.h"
#include "cli/service/replica/replica_place.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/words.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/process.h"
#include "scheduler/runtime/program/child_end.h"
#include "scheduler/runtime/program/script_in_memory.h"
#include "scheduler/runtime/signals.h"

namespace muster::cli {
namespace {

constexpr Duration kAnswerPatience = std::chrono::seconds(5);
constexpr Duration kEndPatience = std::chrono::seconds(10);
constexpr Duration kNotePause = std::chrono::seconds(2);
constexpr Duration kLookMost = std::chrono::minutes(1);

void Say(const std::string& what) {
  std::cerr << Printable(absl::StrCat("muster service: ", what)) << std::endl;
}

class ReplicaKeeper {
 public:
  ReplicaKeeper(const Invocation& invocation, const KeptReplica& replica, JobSelector job,
                const UniqueFd& signals)
      : invocation_(invocation),
        replica_(replica),
        job_(std::move(job)),
        signals_(signals),
        health_(replica.terms) {}

  absl::Status Open(std::uint64_t restarts) {
    ASSIGN_OR_RETURN(const Address address, AddressOf(invocation_));
    ASSIGN_OR_RETURN(note_.host, OwnAddress(address));
    ASSIGN_OR_RETURN(connection_, Connection::Open(address));
    note_.restarts = restarts;
    return absl::OkStatus();
  }

  absl::StatusOr<int> Run() {
    for (;;) {
      if (const std::optional<int> signal = TakeSignals(); signal.has_value()) {
        return Leave(*signal);
      }
      const SteadyTime now = clock_.SteadyNow();
      if (now >= health_.next()) {
        if (health_.runs()) {
          Ask();
        } else {
          RETURN_IF_ERROR(Start());
        }
      }
      Publish();
      AwaitSomething();
    }
  }

 private:
  absl::Status Start() {
    ASSIGN_OR_RETURN(const std::vector<std::uint16_t> ports, FreePorts(replica_.ports.size()));
    SpawnRequest request;
    request.environment = invocation_.environment.entries();
    note_.ports.clear();
    for (std::size_t i = 0; i < ports.size(); ++i) {
      note_.ports.push_back({replica_.ports[i], ports[i]});
      request.environment.push_back(absl::StrCat(PortVariable(replica_.ports[i]), "=", ports[i]));
    }
    request.environment.push_back(absl::StrCat("PORT=", ports.front()));
    request.arguments = {"replica"};
    request.arguments.insert(request.arguments.end(), replica_.arguments.begin(),
                             replica_.arguments.end());
    request.new_session = true;  // a group of its own, which is ended as a whole
    ASSIGN_OR_RETURN(program_, SpawnScript(replica_.script, std::move(request)));
    ++note_.starts;
    note_.state = kReplicaStarting;
    health_.Started(clock_.SteadyNow());
    return absl::OkStatus();
  }

  void Ask() {
    const absl::Status answer = AskHealth(
        note_.host, note_.ports.front().port, replica_.probe,
        std::min(kAnswerPatience, std::max(replica_.probe.interval, kNotePause)), signals_.get());
    if (absl::IsCancelled(answer)) {
      return;
    }
    const int before = health_.failures();
    const bool failed = health_.Answered(answer.ok(), clock_.SteadyNow());
    if (health_.failures() > before) {
      Say(absl::StrCat("probe: ", answer.message(), " (", health_.failures(), " of ",
                       replica_.terms.failures, ")"));
    }
    if (answer.ok()) {
      note_.state = kReplicaReady;
    } else if (failed) {  // one slow answer is no reason to take it from the proxy
      note_.state = kReplicaFailing;
      Publish();
      EndProgram();
      TakeEnd("failed its probes");
    }
  }

  // The program has ended, or was ended.
  void TakeEnd(const std::string& how) {
    program_ = 0;
    health_.Ended(clock_.SteadyNow());
    note_.state = kReplicaFailing;
    Say(absl::StrCat(
        "the program ", how, "; it is started again in ",
        SecondsText(std::chrono::ceil<std::chrono::seconds>(health_.next() - clock_.SteadyNow()))));
  }

  // The signal by which the replica is to end, if one came.
  std::optional<int> TakeSignals() {
    while (const std::optional<SignalEvent> event = TakeSignal(signals_)) {
      const int signal = event->number;
      if (signal == SIGCHLD) {
        siginfo_t ended = {};
        if (program_ != 0 &&
            waitid(P_PID, static_cast<id_t>(program_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            ended.si_pid == program_) {
          kill(-program_, SIGKILL);  // what it has left, while the number is still its own
          const int status = AwaitEnd(program_);
          TakeEnd(WIFSIGNALED(status)
                      ? absl::StrCat("was ended by signal ", WTERMSIG(status))
                      : absl::StrCat("ended with the exit code ", WEXITSTATUS(status)));
        }
      } else if (signal == SIGUSR1 || signal == SIGUSR2 || signal == SIGHUP) {
        if (program_ != 0) {
          kill(program_, signal);
        }
      } else {
        return signal;
      }
    }
    return std::nullopt;
  }

  void EndProgram() {
    if (program_ == 0) {
      return;
    }
    kill(-program_, SIGTERM);
    (void)EndsWithin(program_, kEndPatience);
    kill(-program_, SIGKILL);
    (void)AwaitEnd(program_);
    program_ = 0;
  }

  int Leave(int signal) {
    note_.state = kReplicaLeaving;
    if (program_ != 0) {
      kill(-program_, SIGTERM);
    }
    Publish();
    EndProgram();
    return kShellSignalBase + signal;
  }

  // When the state has changed. What could not be said is said later.
  void Publish() {
    if (note_ == said_ || clock_.SteadyNow() < next_note_) {
      return;
    }
    const absl::Status noted =
        connection_->Call(NoteJob{job_, {{.name = kReplicaNote, .text = NoteText(note_)}}});
    if (noted.ok()) {
      said_ = note_;
      next_note_ = {};
      mute_ = false;
      return;
    }
    next_note_ = clock_.SteadyNow() + kNotePause;
    if (!mute_) {
      Say(absl::StrCat("cannot say that it is ", note_.state, ": ", noted.message()));
    }
    mute_ = true;
  }

  void AwaitSomething() const {
    SteadyTime until = health_.next();
    if (!(note_ == said_)) {
      until = std::min(until, next_note_);
    }
    const auto left = std::chrono::ceil<Duration>(until - clock_.SteadyNow());
    pollfd watched = {signals_.get(), POLLIN, 0};
    (void)poll(&watched, 1, static_cast<int>(std::clamp(left, Duration(0), kLookMost).count()));
  }

  const SystemClock clock_;
  const Invocation& invocation_;
  const KeptReplica& replica_;
  const JobSelector job_;
  const UniqueFd& signals_;
  std::unique_ptr<Connection> connection_;
  ReplicaHealth health_;
  ReplicaNote note_ = {.state = kReplicaStarting};
  ReplicaNote said_;
  SteadyTime next_note_;
  pid_t program_ = 0;
  bool mute_ = false;  // the last note was not taken
};

// An element of an array by its index: the array's number means all of them.
absl::StatusOr<JobSelector> OwnJob(const Environment& environment) {
  const auto number = ParseDigits(environment.Get("MUSTER_JOB_ID"), UINT64_MAX);
  if (!number.ok()) {
    return absl::FailedPreconditionError(
        "muster service replica is for the jobs of muster service start");
  }
  const auto array = ParseDigits(environment.Get("MUSTER_ARRAY_JOB_ID"), UINT64_MAX);
  const auto index = ParseDigits(environment.Get("MUSTER_ARRAY_TASK_ID"), UINT32_MAX);
  if (!array.ok() || !index.ok()) {
    return JobSelector{.job = JobId(*number)};
  }
  return JobSelector{.job = JobId(*array), .elements = {static_cast<std::uint32_t>(*index)}};
}

}  // namespace

absl::StatusOr<int> KeepReplica(const Invocation& invocation, const KeptReplica& replica) {
  ASSIGN_OR_RETURN(JobSelector job, OwnJob(invocation.environment));
  const auto restarts = ParseDigits(invocation.environment.Get("MUSTER_RESTART_COUNT"), UINT64_MAX);
  ASSIGN_OR_RETURN(const UniqueFd signals,
                   BlockSignals({SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD}));
  IgnoreBrokenPipes();
  ReplicaKeeper keeper(invocation, replica, std::move(job), signals);
  RETURN_IF_ERROR(keeper.Open(restarts.ok() ? *restarts : 0));
  return keeper.Run();
}

}  // namespace muster::cli
