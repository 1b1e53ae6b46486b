#include "agent/supervisor/criu/criu_checkpoints.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "agent/supervisor/launch/environment.h"
#include "agent/supervisor/launch/launch.h"
#include "scheduler/base/status.h"
#include "scheduler/base/utf8.h"

namespace muster::agent {
namespace {

constexpr const char* kComponent = "criu";
constexpr const char* kDirectory = "MUSTER_CHECKPOINT_DIR=";
constexpr std::size_t kOutputBytes = 4096;
constexpr Duration kImagesLimit{8000};
// What CRIU says of an id that was taken after we looked.
bool SaysTaken(const std::string& reason) {
  return absl::StartsWith(reason, "Can't fork for ") && absl::EndsWith(reason, ": File exists");
}

// What asks for room needs no other variables, and the user's own never meet CRIU's right.
std::vector<std::string> AdmissionEnvironment(const SupervisorOrder& order) {
  constexpr std::array kNeeded = {"HOME=",
                                  "XDG_DATA_HOME=",
                                  "MUSTER_CHECKPOINT_ADMIT=",
                                  "MUSTER_CHECKPOINT_LEDGER=",
                                  "MUSTER_CHECKPOINT_QUOTA=",
                                  "MUSTER_CHECKPOINT_QUOTA_COUNT=",
                                  "MUSTER_CLUSTER_NAME=",
                                  "MUSTER_CONTROLLER=",
                                  "MUSTER_JOB_ID=",
                                  "MUSTER_KEYS=",
                                  "MUSTER_MUNGE_SOCKET="};
  if (!order.launch.checkpoint_quota.given()) {
    return {};
  }
  std::vector<std::string> environment = BatchEnvironment(order, 0);
  std::erase_if(environment, [&](const std::string& assignment) {
    return std::none_of(kNeeded.begin(), kNeeded.end(), [&assignment](const char* name) {
      return absl::StartsWith(assignment, name);
    });
  });
  return environment;
}

std::string CheckpointDirectory(const SupervisorOrder& order) {
  for (const std::string& assignment : BatchEnvironment(order, 0)) {
    if (absl::StartsWith(assignment, kDirectory)) {
      return assignment.substr(std::strlen(kDirectory));
    }
  }
  return order.launch.program.work_dir;
}

}  // namespace

CriuCheckpoints::CriuCheckpoints(const Place& place, std::string criu, std::string program,
                                 std::string path)
    : place_(place),
      criu_(std::move(criu)),
      program_(std::move(program)),
      path_(std::move(path)),
      last_(place.clock.SteadyNow()) {
  told_.serial = 1;
  told_.opened_ms = NowMs();
}

CriuCheckpoints::~CriuCheckpoints() = default;

absl::StatusOr<std::unique_ptr<CriuCheckpoints>> CriuCheckpoints::Open(
    const Place& place, const std::string& criu, const std::string& supervisor) {
  const std::string program = FindCriuProgram(supervisor);
  if (criu.empty() || program.empty()) {
    return absl::FailedPreconditionError(
        criu.empty() ? "--checkpoint-with=criu: CRIU does not work on this node"
                     : "--checkpoint-with=criu: muster-criu is not installed beside " + supervisor);
  }
  const LaunchOrder& launch = place.order.launch;
  const std::string path =
      absl::StrCat(CheckpointDirectory(place.order), "/criu-", launch.job.value());
  // Of another job: one that had the number before this cluster's.
  const bool first = launch.attempt.value() <= 1;
  const auto make = [&]() -> absl::StatusOr<Brought> {
    ASSIGN_OR_RETURN(const CriuImages images, CriuImages::Make(path, geteuid()));
    if (first) {
      images.RemoveGenerations();
    }
    RETURN_IF_ERROR(images.WriteScript(launch.program.script));
    return Brought();
  };
  RETURN_IF_ERROR(RunAsUser(place.user, kImagesLimit, make).status());
  return std::unique_ptr<CriuCheckpoints>(new CriuCheckpoints(place, criu, program, path));
}

absl::StatusOr<Brought> CriuCheckpoints::WithImages(const Work& work) const {
  return RunAsUser(place_.user, kImagesLimit, [&]() -> absl::StatusOr<Brought> {
    ASSIGN_OR_RETURN(CriuImages images, CriuImages::Open(path_, geteuid()));
    return work(std::move(images));
  });
}

std::uint64_t CriuCheckpoints::NowMs() const {
  return static_cast<std::uint64_t>(place_.clock.Now().time_since_epoch().count());
}

std::optional<StepRestore> CriuCheckpoints::NextRestore() {
  restoring_.reset();
  // The first that was not tried, where there is one.
  const absl::StatusOr<Brought> found = WithImages([this](const CriuImages& images) {
    for (const RestorableGeneration& generation : images.Restorable()) {
      if (tried_.count(generation.number) == 0) {
        return BringValue(generation);
      }
    }
    return Brought();
  });
  restoring_ = found.ok() ? ValueIn<RestorableGeneration>(*found) : std::nullopt;
  if (!restoring_.has_value()) {
    return std::nullopt;
  }
  tried_.insert(restoring_->number);
  place_.log.Info(kComponent, absl::StrCat("restoring checkpoint ", restoring_->number));
  return StepRestore{{program_, "restore", criu_, path_, restoring_->Name()}, restoring_->leader};
}

void CriuCheckpoints::Restored() {
  if (restoring_.has_value()) {
    place_.log.Info(kComponent, absl::StrCat("restored checkpoint ", restoring_->number));
    restoring_.reset();
    told_.restored_ms = NowMs();
    last_ = place_.clock.SteadyNow();
  }
}

bool CriuCheckpoints::TakeFailure(int code) {
  if (!restoring_.has_value()) {
    return true;
  }
  const RestorableGeneration tried = *restoring_;
  const absl::StatusOr<Brought> read =
      WithImages([&tried](const CriuImages& images) -> absl::StatusOr<Brought> {
        ASSIGN_OR_RETURN(const UniqueFd generation, images.OpenGeneration(tried));
        return Brought{.descriptors = {}, .text = ReasonIn(generation.get(), kRestoreLog)};
      });
  const std::string reason = read.ok() ? read->text : std::string(read.status().message());
  if (code == kCriuIdsTaken || SaysTaken(reason)) {
    tried_.erase(tried.number);
    if (++ids_taken_ == 1) {
      place_.log.Warning(kComponent, absl::StrCat("checkpoint ", tried.number,
                                                  " waits: other processes have ids of its own"));
    }
    return false;
  }
  WithImages([&tried](const CriuImages& images) {
    images.SetAside(tried);
    return Brought();
  }).IgnoreError();
  place_.log.Warning(kComponent,
                     absl::StrCat("checkpoint ", tried.number, " could not be restored: ",
                                  reason.empty() ? absl::StrCat("exit code ", code) : reason));
  ids_taken_ = 0;
  return true;
}

checkpoint::Need CriuCheckpoints::Due(const checkpoint::Hints& hints) const {
  if (busy()) {
    return checkpoint::Need::kNone;
  }
  constexpr double kMicroseconds = 1e6;
  checkpoint::Pace pace;
  pace.since_last_s = std::chrono::duration<double>(place_.clock.SteadyNow() - last_).count();
  pace.cost_s = static_cast<double>(told_.cost_us) / kMicroseconds;
  pace.answered_notice = tried_notice_;  // one that fails is not tried on and on
  pace.deadline_answered = tried_deadline_ == hints.deadline_ms;
  return checkpoint::Decide(
      hints, pace, std::chrono::duration<double>(place_.clock.Now().time_since_epoch()).count());
}

void CriuCheckpoints::Dump(pid_t leader, AfterDump after, const checkpoint::Hints& hints,
                           Done done) {
  if (Due(hints) == checkpoint::Need::kTimeLimit) {
    tried_deadline_ = hints.deadline_ms;
  }
  done_ = std::move(done);
  answers_ = hints.notice_number;
  tried_notice_ = hints.notice_number;
  begun_ms_ = NowMs();
  if (const absl::Status started = StartDump(leader, after); !started.ok()) {
    FinishDump(started);
  }
}

absl::Status CriuCheckpoints::StartDump(pid_t leader, AfterDump after) {
  std::array<int, 2> ends{-1, -1};
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null.valid() || pipe2(ends.data(), O_CLOEXEC) != 0) {
    return absl::ErrnoToStatus(errno, "cannot make a pipe");
  }
  output_.reset(ends[0]);
  const UniqueFd theirs(ends[1]);
  if (fcntl(output_.get(), F_SETFL, O_NONBLOCK) != 0) {
    return absl::ErrnoToStatus(errno, "cannot make a pipe");
  }
  LaunchRequest request;
  request.programs = {program_};
  request.arguments = {program_,
                       "dump",
                       criu_,
                       path_,
                       absl::StrCat(leader),
                       after == AfterDump::kStop ? "stop" : "run"};
  request.environment = AdmissionEnvironment(place_.order);
  request.environment.emplace_back("PATH=/usr/sbin:/usr/bin:/sbin:/bin");
  request.work_dir = "/";
  request.standard_input = null.get();
  request.standard_output = theirs.get();
  request.standard_error = null.get();
  request.user = place_.user;
  request.may_restore = true;
  ASSIGN_OR_RETURN(const LaunchedChild child, Launch(request));
  pid_ = child.pid;
  return absl::OkStatus();
}

void CriuCheckpoints::Reaped(int wait_status) {
  pid_ = -1;
  FinishDump(TakeDump(wait_status));
}

absl::Status CriuCheckpoints::TakeDump(int wait_status) {
  std::string text(kOutputBytes, '\0');
  const ssize_t got = read(output_.get(), text.data(), text.size());
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  while (!text.empty() && text.back() == '\n') {
    text.pop_back();
  }
  if (!WIFEXITED(wait_status) || WEXITSTATUS(wait_status) != 0) {
    const bool killed = WIFSIGNALED(wait_status);
    return absl::InternalError(
        !text.empty() ? EscapeControl(text)
                      : absl::StrCat("muster-criu: ", killed ? "signal " : "exit code ",
                                     killed ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status)));
  }
  ASSIGN_OR_RETURN(const DumpReport report, ParseDumpReport(text));
  ++told_.commits;
  told_.begun_ms = begun_ms_;
  told_.ended_ms = NowMs();
  told_.cost_us = report.stopped_us;
  told_.stall_us += report.stopped_us;
  told_.bytes = report.bytes;
  told_.notice = std::max(told_.notice, answers_);
  return absl::OkStatus();
}

void CriuCheckpoints::FinishDump(const absl::Status& status) {
  output_.reset();
  last_ = place_.clock.SteadyNow();
  const std::string text(status.message());
  if (!status.ok() && said_ != text) {
    place_.log.Warning(kComponent, absl::StrCat("its processes were not saved: ", text));
  }
  said_ = text;
  // From the loop: who began it may still be at it.
  place_.loop.Post([this, alive = std::weak_ptr<const bool>(alive_), status] {
    if (!alive.expired() && done_ != nullptr) {
      std::exchange(done_, nullptr)(status);
    }
  });
}

// CRIU itself ends with the process that runs it.
void CriuCheckpoints::StopDump() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    output_.reset();
    done_ = nullptr;
  }
}

void CriuCheckpoints::Forget() {
  StopDump();  // it would write on into what is removed
  // The job's own directory was made for it; one that was named stays.
  const std::string above = path_.substr(0, path_.rfind('/'));
  const bool made = absl::EndsWith(
      above, absl::StrCat("/muster-", place_.order.launch.job.value(), ".checkpoint"));
  const absl::StatusOr<Brought> gone = WithImages([&](const CriuImages& images) {
    images.Remove();
    if (made) {
      rmdir(above.c_str());  // refused while anything else is in it
    }
    return Brought();
  });
  if (!gone.ok()) {
    place_.log.Warning(kComponent, absl::StrCat(path_, " stays: ", gone.status().ToString()));
  }
}

checkpoint::ProgressReport CriuCheckpoints::Progress() const {
  checkpoint::ProgressReport report;
  report.slots = {told_};
  return report;
}

}  // namespace muster::agent
