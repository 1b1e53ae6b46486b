#include "agent/supervisor/container/attempt_data.h"

#include <sys/epoll.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "agent/supervisor/container/container_call.h"
#include "agent/supervisor/launch/environment.h"
#include "agent/supervisor/user_space/users_directory.h"
#include "scheduler/base/status.h"
#include "scheduler/model/machine/node.h"
#include "scheduler/model/value/job_text.h"

namespace muster::agent {
namespace {

constexpr const char* kComponent = "data";
constexpr std::size_t kSourceBytesMax = 4096;
constexpr std::size_t kFailureBytesMax = 1024;

std::string OwnProgram() {
  std::error_code unknown;
  return FindContainerProgram(std::filesystem::read_symlink("/proc/self/exe", unknown).string());
}

}  // namespace

std::string CacheOfStaged(const std::string& place) {
  return std::filesystem::path(place).parent_path().parent_path().string();
}

AttemptData::AttemptData(EventLoop& loop, const Logger& log, const AttemptDirectory& directory,
                         SupervisorOrder& order)
    : loop_(loop),
      log_(log),
      directory_(directory),
      order_(order),
      program_(OwnProgram()),
      here_(order.launch.spec.node_data.empty()) {}

AttemptData::~AttemptData() {
  Stop();
}

void AttemptData::Stop() {
  if (socket_.valid()) {
    loop_.Unwatch(socket_.get());
    socket_.reset();
  }
}

void AttemptData::Bring(std::uint32_t node_index, const JobUser* user, const AttemptCgroup* cgroup,
                        int mounts, Done done) {
  done_ = std::move(done);
  if (const absl::Status status = Begin(node_index, user, cgroup, mounts); !status.ok()) {
    loop_.Post([this, status] { done_(status); });
  }
}

absl::Status AttemptData::Begin(std::uint32_t node_index, const JobUser* user,
                                const AttemptCgroup* cgroup, int mounts) {
  if (order_.staging.program.empty() || program_.empty()) {
    return absl::FailedPreconditionError(
        "--stage-in-node: this node makes no copies of data: install muster and muster-container "
        "beside its supervisor, and see [staging] of the agent");
  }
  RETURN_IF_ERROR(MakeUsersDirectory(order_.staging.cache, user));
  ASSIGN_OR_RETURN(
      socket_, CallContainerProgram({.program = program_,
                                     .arguments = {kBringVerb},
                                     .environment = BatchEnvironment(order_, node_index),
                                     .order = EncodeDataOrder({order_.staging, directory_.Name(),
                                                               order_.launch.spec.node_data}),
                                     .user = user,
                                     .cgroup = cgroup,
                                     .mounts = mounts},
                                    &said_));
  log_.Info(kComponent, "bringing the job's data here");
  return loop_.Watch(socket_.get(), EPOLLIN, [this](std::uint32_t) { OnAnswer(); });
}

void AttemptData::OnAnswer() {
  ContainerAnswer answer = TakeAnswer(socket_);
  Stop();
  const absl::Status taken = Take(answer.bytes, std::move(answer.descriptors));
  if (taken.ok()) {
    log_.Info(kComponent, absl::StrCat("the job's data are here: ", brought_.found, " found, ",
                                       brought_.made, " copied"));
  } else {
    log_.Warning(kComponent, std::string(taken.message()));
  }
  done_(taken);
}

absl::Status AttemptData::Take(const std::string& bytes, std::vector<UniqueFd> locks) {
  if (bytes.empty()) {
    return absl::AbortedError("--stage-in-node: the process that copies the data was ended");
  }
  ASSIGN_OR_RETURN(DataAnswer answer, DecodeDataAnswer(bytes));
  if (!answer.error.empty()) {
    return absl::FailedPreconditionError(answer.error);
  }
  if (!absl::StartsWith(answer.place, order_.staging.cache + "/")) {
    return absl::InternalError("--stage-in-node: the data are not where they were to be");
  }
  std::vector<std::string>& gone = answer.brought.gone;  // in the user's words
  if (gone.size() > kNodeKeptMax) {
    gone.resize(kNodeKeptMax);
  }
  std::erase_if(gone, [](const std::string& source) {
    return !CheckJobText("", source, kSourceBytesMax).ok();
  });
  std::string& not_ahead = answer.brought.not_ahead;
  if (!CheckJobText("", not_ahead, kFailureBytesMax).ok()) {
    not_ahead.clear();
  }
  order_.staged = answer.place;
  locks_ = std::move(locks);
  brought_ = std::move(answer.brought);
  here_ = true;
  return absl::OkStatus();
}

}  // namespace muster::agent
