// What agents and users send, through conversion, validation and the scheduler's handlers: whatever
// it is, it is refused or leaves a state whose invariants hold, of which a plan can be made, and
// which converts back. Returns 1 when that does not hold.
//
// The input is a list of records: a kind, a length (2 bytes, little-endian), and a message. From
// kRequests on, kinds are those of the client service's requests, in the order of their lists.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "proto/convert/methods.h"
#include "proto/convert/through_bytes.h"
#include "proto/health.pb.h"
#include "proto/job.pb.h"
#include "proto/node.pb.h"
#include "scheduler/core/handle/handle.h"
#include "scheduler/core/plan/planner.h"
#include "scheduler/core/plan/snapshot_builder.h"
#include "scheduler/core/state/cluster_state.h"
#include "scheduler/core/state/invariants.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/job/job_update.h"
#include "scheduler/model/job/report.h"
#include "scheduler/model/machine/health.h"
#include "scheduler/model/machine/node.h"
#include "scheduler/model/request/cluster_questions.h"
#include "scheduler/model/request/job_questions.h"

namespace muster::fuzz {
namespace {

constexpr std::size_t kHeadBytes = 3;
constexpr std::size_t kRecordsMax = 24;
constexpr std::uint8_t kRequests = 128;

class FuzzedCluster {
  using TakeMessage = void (FuzzedCluster::*)(std::string_view message);
  static constexpr auto Requests() {
#define MUSTER_TAKE(REQUEST) &FuzzedCluster::TakeRequest<REQUEST>,
    return std::to_array<TakeMessage>({MUSTER_CLIENT_COMMANDS(MUSTER_TAKE) MUSTER_JOB_QUESTIONS(
        MUSTER_TAKE) MUSTER_CLUSTER_QUESTIONS(MUSTER_TAKE)});
#undef MUSTER_TAKE
  }

 public:
  FuzzedCluster() {
    Take(BeginEpoch{});
  }

  void TakeRecord(std::uint8_t kind, std::string_view message) {
    if (kind >= kRequests) {
      static constexpr auto kAll = Requests();
      return (this->*kAll[(kind - kRequests) % kAll.size()])(message);
    }
    switch (kind % 8) {
      case 0:
        return As<wire::Registration, Registration>(
            message, [](Registration r) { return RegisterAgent{std::move(r)}; });
      case 1:
        return As<wire::JobSpec, JobSpec>(message, [this](JobSpec spec) {
          spec.user = kUser;
          SubmitJob submit;
          submit.token = "token-" + std::to_string(++tokens_);
          submit.spec = std::move(spec);
          submit.program.script = "#!/bin/sh\n";
          submit.program.work_dir = "/";
          return submit;
        });
      case 2:
        return As<wire::Report, Report>(message, [](Report report) {
          return TakeReport{NodeId(1), std::move(report)};
        });
      case 3:
        return As<wire::JobUpdate, JobUpdate>(message, [](JobUpdate changes) {
          UpdateJob update;
          update.job = JobId(1);
          update.changes = std::move(changes);
          update.by = kUser;
          return update;
        });
      case 4:
        return As<wire::StepSpec, StepSpec>(message, [this](StepSpec spec) {
          StartStep start;
          start.token = "token-" + std::to_string(++tokens_);
          start.job = JobId(1);
          start.spec = std::move(spec);
          start.program.argv = {"true"};
          start.program.work_dir = "/";
          start.by = kUser;
          return start;
        });
      case 5:
        return As<wire::HealthReport, HealthReport>(message, [](HealthReport report) {
          return TakeHealthReport{NodeId(1), std::move(report)};
        });
      case 6:
        return As<wire::Program, Program>(message, [this](Program program) {
          SubmitJob submit;
          submit.token = "token-" + std::to_string(++tokens_);
          submit.spec.user = kUser;
          submit.program = std::move(program);
          return submit;
        });
      default:
        return RunCycle();
    }
  }
  [[nodiscard]] bool holds() const {
    return holds_;
  }

 private:
  inline static const User kUser{.uid = 1000, .gid = 1000, .name = "user"};
  inline static const User kRoot{.uid = 0, .gid = 0, .name = "root"};

  // What is read of a request is written and read again the same; a command is taken, as the user's
  // for jobs, or else as root's.
  template <class Request>
  void TakeRequest(std::string_view message) {
    Request request;
    if (!ReadRequest(message, &request).ok()) {
      return;
    }
    std::string once;
    std::string twice;
    Request same;
    AppendRequest(request, &once);
    if (!ReadRequest(once, &same).ok()) {
      return Broken("a request that was read cannot be written and read again");
    }
    AppendRequest(same, &twice);
    if (once != twice) {
      Broken("a request that was read is written in two ways");
    }
    TakeGiven(std::move(request));
  }
  template <class Each>
  void TakeGiven(ForJobs<Each> request) {
    Each command(std::move(request));
    command.job = JobId(1);
    command.by = kUser;
    Take(std::move(command));
  }
  template <class Request>
  void TakeGiven(Request request) {
    if constexpr (std::is_same_v<Request, SubmitJob>) {
      request.spec.user = kUser;
      request.token = "token-" + std::to_string(++tokens_);
    }
    if constexpr (std::is_constructible_v<Command, Request>) {
      if constexpr (requires { request.by; }) {
        request.by = kRoot;
      }
      Take(std::move(request));
    }
  }

  template <class Wire, class Model, class MakeInput>
  void As(std::string_view bytes, const MakeInput& make) {
    Wire message;
    Model value;
    if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
        !convert::ReadThroughBytes(message, &value).ok()) {
      return;
    }
    Wire again;
    Model same;
    convert::WriteThroughBytes(value, &again);
    if (!convert::ReadThroughBytes(again, &same).ok()) {
      Broken("what was read cannot be written and read again");
    }
    Take(make(std::move(value)));
  }

  void Take(const Command& command) {
    const core::Transition transition = core::Handle(state_, command, now_, config_);
    if (!transition.status.ok() && (!transition.events.empty() || !transition.effects.empty())) {
      Broken("a refused input has effects");
    }
    for (const Event& event : transition.events) {
      state_.Apply(event);
    }
    if (const std::optional<std::string> broken = core::BrokenInvariant(state_)) {
      Broken(*broken);
    }
  }

  void RunCycle() {
    now_ += std::chrono::seconds(1);
    const auto snapshot = core::SnapshotBuilder().Build(state_, now_, nullptr, config_.network);
    Take(TakePlan{core::MakePlan(*snapshot, config_)});
  }

  void Broken(const std::string& why) {
    std::fprintf(stderr, "%s\n", why.c_str());
    holds_ = false;
  }

  const SchedulerConfig config_;
  core::ClusterState state_;
  Time now_{std::chrono::seconds(1'000'000)};
  int tokens_ = 0;
  bool holds_ = true;
};

}  // namespace
}  // namespace muster::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  muster::fuzz::FuzzedCluster cluster;
  for (std::size_t i = 0; i < muster::fuzz::kRecordsMax && rest.size() >= muster::fuzz::kHeadBytes;
       ++i) {
    const auto kind = static_cast<std::uint8_t>(rest[0]);
    const std::size_t length = static_cast<std::size_t>(static_cast<unsigned char>(rest[1])) |
                               static_cast<std::size_t>(static_cast<unsigned char>(rest[2])) << 8;
    rest.remove_prefix(muster::fuzz::kHeadBytes);
    const std::string_view message = rest.substr(0, length);
    rest.remove_prefix(message.size());
    cluster.TakeRecord(kind, message);
  }
  return cluster.holds() ? 0 : 1;
}
