#include "cli/dev/session_keeper.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iostream>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "cli/connect/target.h"
#include "cli/controller/controller.h"
#include "cli/dev/idle_clock.h"
#include "cli/dev/session_place.h"
#include "cli/frame/own_command.h"
#include "cli/request/request.h"
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

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kTickMs = 1'000;
constexpr milliseconds kDoorPause{100};
constexpr seconds kPlacePatience{30};
constexpr seconds kEndPatience{10};
constexpr Duration kWarnBefore = std::chrono::minutes(1);
// Which of them an image has is not known.
constexpr const char* kShellInside = "command -v bash >/dev/null 2>&1 && exec bash; exec sh";

// The idle time is made of that many looks.
constexpr int kLooks = 20;
constexpr Duration kLookPauseMax = seconds(30);
constexpr Duration kLookPauseMin = seconds(1);

// A port of the loopback that is free just now.
absl::StatusOr<std::uint16_t> FreePort() {
  ASSIGN_OR_RETURN(const UniqueFd socket, TakeOnLoopback(0));
  return PortOf(socket);
}

class Keeper {
 public:
  Keeper(const Invocation& invocation, const KeptSession& session, JobId job, SessionPlace place,
         std::unique_ptr<Connection> connection, const UniqueFd& signals)
      : invocation_(invocation),
        session_(session),
        job_(job),
        place_(std::move(place)),
        connection_(std::move(connection)),
        signals_(signals),
        idle_(SystemClock().Now()) {}

  absl::StatusOr<int> Run() {
    RETURN_IF_ERROR(place_.Make());
    if (session_.script.empty()) {
      if (!session_.container.empty()) {
        RETURN_IF_ERROR(place_.KeepContainer(session_.container));
      }
      RETURN_IF_ERROR(place_.Open({}));
      open_ = true;
    } else {
      RETURN_IF_ERROR(Serve());
    }
    absl::StatusOr<int> code = Keep();
    place_.Remove();
    return code;
  }

 private:
  absl::Status Serve() {
    ASSIGN_OR_RETURN(door_.port, FreePort());
    ASSIGN_OR_RETURN(door_.token, MakeToken());
    door_.url =
        absl::StrReplaceAll(session_.url.empty() ? "/" : session_.url, {{"{token}", door_.token}});
    SpawnRequest request;
    request.environment = invocation_.environment.entries();
    const std::string port = absl::StrCat("MUSTER_DEV_PORT=", door_.port);
    const std::string token = absl::StrCat("MUSTER_DEV_TOKEN=", door_.token);
    if (session_.container.empty()) {
      request.environment.push_back(port);
      request.environment.push_back(token);
      request.arguments = {"session"};
      ASSIGN_OR_RETURN(server_, SpawnScript(session_.script, std::move(request)));
      return absl::OkStatus();
    }
    // The keeper stays outside: the image need not have what this program is made of. The script
    // is the shell's input, for words of a command and variables of a step are seen by others.
    ASSIGN_OR_RETURN(
        const UniqueFd script,
        FileInMemory("session", absl::StrCat("export ", port, " ", token, "\n", session_.script)));
    request.fds = {{script.get(), STDIN_FILENO}};
    ASSIGN_OR_RETURN(request.arguments, OwnCommand(invocation_, "run"));
    request.program = request.arguments.front();
    request.arguments.emplace_back("--ntasks=1");
    request.arguments.insert(request.arguments.end(), session_.container.begin(),
                             session_.container.end());
    for (const char* word : {"--", "/bin/sh"}) {
      request.arguments.emplace_back(word);
    }
    ASSIGN_OR_RETURN(server_, Spawn(request));
    return absl::OkStatus();
  }

  absl::StatusOr<int> Keep() {
    const Duration pause = std::clamp(session_.idle_timeout / kLooks, kLookPauseMin, kLookPauseMax);
    Time next_look = SystemClock().Now();
    for (;;) {
      pollfd watched = {signals_.get(), POLLIN, 0};
      (void)poll(&watched, 1, open_ ? kTickMs : static_cast<int>(kDoorPause.count()));
      if (const std::optional<int> code = TakeSignals(); code.has_value()) {
        return *code;
      }
      if (!open_ && CheckListens({.host = "127.0.0.1", .port = door_.port}).ok()) {
        RETURN_IF_ERROR(place_.Open(door_));
        open_ = true;
      }
      const SessionPlace::Company company = place_.Look();
      if (session_.script.empty() && company.left && company.shells == 0) {
        return 0;
      }
      const Time now = SystemClock().Now();
      if (company.typed != kNoTime) {
        idle_.Typed(std::min(company.typed, now));
      }
      if (session_.idle_timeout == Duration(0) || now < next_look) {
        continue;
      }
      next_look = now + pause;
      idle_.Looked(Look(), now);
      const Duration idle = now - idle_.Since();
      if (idle >= session_.idle_timeout) {
        return EndIdle();
      }
      Warn(idle);
    }
  }

  std::optional<RankTable> Look() {
    ListRanks asked;
    asked.job = job_;
    absl::StatusOr<RankTable> table = connection_->Call(asked);
    return table.ok() ? std::make_optional(*std::move(table)) : std::nullopt;
  }

  // The exit code when it is over. Signals that end the job are the server's, too.
  std::optional<int> TakeSignals() {
    while (const std::optional<SignalEvent> event = TakeSignal(signals_)) {
      if (event->number == SIGCHLD) {
        int status = 0;
        if (server_ != 0 && waitpid(server_, &status, WNOHANG) == server_) {
          server_ = 0;
          return ShellCode(status);
        }
      } else if (server_ != 0) {
        kill(server_, event->number);
      } else {
        return kShellSignalBase + event->number;
      }
    }
    return std::nullopt;
  }

  // In the job's output, and at the shells' terminals.
  void Tell(const std::string& what) const {
    const std::string line = absl::StrCat("muster dev: ", what, "\r\n");
    std::cerr << absl::StrCat("muster dev: ", what, "\n") << std::flush;
    for (const std::string& terminal : place_.Look().terminals) {
      const UniqueFd fd(open(terminal.c_str(), O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
      if (fd.valid()) {
        (void)!write(fd.get(), line.data(), line.size());
      }
    }
  }

  // A minute before the end, once.
  void Warn(Duration idle) {
    const bool due =
        session_.idle_timeout >= 2 * kWarnBefore && idle >= session_.idle_timeout - kWarnBefore;
    if (due && !warned_) {
      Tell("idle; the session ends in a minute unless it is used");
    }
    warned_ = due;
  }

  absl::StatusOr<int> EndIdle() {
    Tell(absl::StrCat(
        "idle for ", PeriodText(session_.idle_timeout),
        session_.when_idle == WhenIdle::kHold ? "; the job waits, held" : "; the session ends"));
    if (session_.when_idle == WhenIdle::kHold) {
      const absl::Status held = GoBackHeld();
      if (held.ok()) {
        return AwaitEnd();  // the job is told to end, with its grace
      }
      Tell(absl::StrCat(held.message(), "; the session ends"));
    }
    if (server_ != 0) {
      kill(server_, SIGTERM);
      (void)EndsWithin(server_, kEndPatience);  // the supervisor ends what is left
    }
    return 0;
  }

  template <class Each>
  absl::Status ChangeOwnJob(const Each& each) {
    ASSIGN_OR_RETURN(const ChangeOutcome outcome,
                     connection_->Call(ForJobs<Each>{each, {{.job = job_}}}));
    return outcome.errors.empty() ? absl::OkStatus()
                                  : absl::FailedPreconditionError(outcome.errors.front());
  }

  absl::Status GoBackHeld() {
    RETURN_IF_ERROR(ChangeOwnJob(RequeueJob{}));
    return ChangeOwnJob(HoldJob{.held = true});
  }

  absl::StatusOr<int> AwaitEnd() {
    for (;;) {
      pollfd watched = {signals_.get(), POLLIN, 0};
      (void)poll(&watched, 1, -1);
      if (const std::optional<int> code = TakeSignals(); code.has_value()) {
        return *code;
      }
    }
  }

  const Invocation& invocation_;
  const KeptSession& session_;
  const JobId job_;
  const SessionPlace place_;
  const std::unique_ptr<Connection> connection_;
  const UniqueFd& signals_;
  IdleClock idle_;
  SessionDoor door_;
  pid_t server_ = 0;
  bool open_ = false;
  bool warned_ = false;
};

}  // namespace

absl::StatusOr<int> KeepSession(const Invocation& invocation, const KeptSession& session) {
  ASSIGN_OR_RETURN(const UniqueFd signals,
                   BlockSignals({SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD}));
  IgnoreBrokenPipes();
  ASSIGN_OR_RETURN(SessionPlace place, SessionPlace::Of(invocation.environment));
  ASSIGN_OR_RETURN(const std::uint64_t job,
                   ParseDigits(invocation.environment.Get("MUSTER_JOB_ID"), UINT64_MAX));
  ASSIGN_OR_RETURN(std::unique_ptr<Connection> connection, OpenController(invocation));
  Keeper keeper(invocation, session, JobId(job), std::move(place), std::move(connection), signals);
  return keeper.Run();
}

absl::StatusOr<int> AwaitDoor(const Invocation& invocation) {
  ASSIGN_OR_RETURN(const SessionPlace place, SessionPlace::Of(invocation.environment));
  const auto patience = std::chrono::steady_clock::now() + kPlacePatience;
  for (;;) {
    const absl::StatusOr<std::optional<SessionDoor>> door = place.Door();
    if (door.ok() && door->has_value()) {
      std::cout << DoorText(**door) << std::flush;
      return 0;
    }
    if (!door.ok() &&
        (!absl::IsNotFound(door.status()) || std::chrono::steady_clock::now() > patience)) {
      return absl::IsNotFound(door.status())
                 ? absl::FailedPreconditionError("the job is no session of muster dev")
                 : door.status();
    }
    std::this_thread::sleep_for(kDoorPause);
  }
}

absl::StatusOr<int> EnterSession(const Invocation& invocation,
                                 const std::vector<std::string>& shell) {
  ASSIGN_OR_RETURN(const SessionPlace place, SessionPlace::Of(invocation.environment));
  SpawnRequest request;
  request.arguments = shell;
  request.environment = invocation.environment.entries();
  ASSIGN_OR_RETURN(const std::vector<std::string> container, place.Container());
  if (!container.empty()) {
    ASSIGN_OR_RETURN(request.arguments, OwnCommand(invocation, "run"));
    for (const char* word : {"--ntasks=1", "--overlap", "--pty"}) {
      request.arguments.emplace_back(word);
    }
    request.arguments.insert(request.arguments.end(), container.begin(), container.end());
    for (const char* word : {"--", "/bin/sh", "-c", kShellInside}) {
      request.arguments.emplace_back(word);
    }
  }
  request.program = request.arguments.front();
  // What the keys send is for the shell and what it starts.
  for (const int signal : {SIGINT, SIGQUIT, SIGTSTP, SIGTTOU, SIGTTIN}) {
    std::signal(signal, SIG_IGN);
  }
  ASSIGN_OR_RETURN(const pid_t child, Spawn(request));
  const char* terminal = ttyname(STDIN_FILENO);  // NOLINT(concurrency-mt-unsafe): one thread
  const absl::Status entered = place.Enter(child, terminal != nullptr ? terminal : "");
  if (!entered.ok()) {
    std::cerr << "muster dev: keys do not count as use: " << entered.message() << "\n";
  }
  const int status = AwaitEnd(child);
  if (WIFEXITED(status)) {  // else its connection went, perhaps
    (void)place.Leave();
  }
  return ShellCode(status);
}

}  // namespace muster::cli
