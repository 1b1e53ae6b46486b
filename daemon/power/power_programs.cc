#include "daemon/power/power_programs.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/process.h"

namespace muster::daemon {
namespace {

constexpr auto kLook = std::chrono::milliseconds(100);

std::string Environment(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets any
  return absl::StrCat(name, "=", value == nullptr ? otherwise : value);
}

std::string HowItEnded(int status) {
  return WIFSIGNALED(status) ? absl::StrCat("was ended by signal ", WTERMSIG(status))
                             : absl::StrCat("failed with exit code ", WEXITSTATUS(status));
}

nlohmann::json OrNull(const std::string& text) {
  return text.empty() ? nlohmann::json() : nlohmann::json(text);
}

}  // namespace

std::string ResumeFileText(const PowerCall& call) {
  const std::set<std::string> resumed(call.nodes.begin(), call.nodes.end());
  nlohmann::json jobs = nlohmann::json::array();
  for (const ResumedFor& job : call.jobs) {
    std::vector<std::string> own;
    std::copy_if(job.nodes.begin(), job.nodes.end(), std::back_inserter(own),
                 [&resumed](const std::string& node) { return resumed.contains(node); });
    jobs.push_back({{"extra", nullptr},
                    {"features", OrNull(job.features)},
                    {"job_id", job.job.value()},
                    {"nodes_alloc", CompressHostlist(job.nodes)},
                    {"nodes_resume", CompressHostlist(own)},
                    {"oversubscribe", job.shares ? "OK" : "NO"},
                    {"partition", job.partition},
                    {"reservation", OrNull(job.reservation)}});
  }
  const nlohmann::json file = {{"all_nodes_resume", CompressHostlist(call.nodes)},
                               {"jobs", std::move(jobs)}};
  return file.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

PowerPrograms::PowerPrograms(std::string directory, const Logger& log)
    : directory_(std::move(directory)), log_(log) {}

PowerPrograms::~PowerPrograms() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) {
    thread_.join();
  }
}

void PowerPrograms::Call(PowerCall call) {
  const std::lock_guard<std::mutex> lock(mutex_);
  waiting_.push_back(std::move(call));
  if (!thread_.joinable()) {
    thread_ = std::thread([this] { Loop(); });
  }
  changed_.notify_all();
}

void PowerPrograms::Loop() {
  for (;;) {
    std::vector<PowerCall> calls;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      const auto has_work = [this] { return ends_ || !waiting_.empty(); };
      if (children_.empty()) {
        changed_.wait(lock, has_work);
      } else {
        changed_.wait_for(lock, kLook, has_work);
      }
      if (ends_) {
        return;
      }
      calls.swap(waiting_);
    }
    for (const PowerCall& call : calls) {
      Start(call);
    }
    Reap();
  }
}

void PowerPrograms::Start(const PowerCall& call) {
  const std::string nodes = CompressHostlist(call.nodes);
  Child child;
  child.what = absl::StrCat(call.program, " ", nodes);
  const absl::StatusOr<std::optional<PowerUser>> user = FindPowerUser(call.user);
  if (!user.ok()) {
    log_.Error("power", absl::StrCat(child.what, ": ", std::string(user.status().message())));
    return;
  }
  child.limit = std::chrono::steady_clock::now() + call.limit;
  SpawnRequest request;
  request.program = call.program;
  request.arguments = {call.program, nodes};
  request.environment = {Environment("PATH", "/usr/sbin:/usr/bin:/sbin:/bin"),
                         Environment("HOME", "/"), Environment("USER", ""),
                         Environment("LANG", "C.UTF-8")};
  if (call.on) {
    const absl::StatusOr<std::string> file = WriteResumeFile(call, *user);
    if (!file.ok()) {
      log_.Error("power", std::string(file.status().message()));
    }
    child.file = file.value_or("");
    request.environment.push_back(absl::StrCat("SLURM_RESUME_FILE=", child.file));
  }
  if (user->has_value()) {
    RunAs(**user, request);
  }
  const UniqueFd nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  request.fds = {{nothing.get(), 0}, {2, 1}, {2, 2}};
  request.new_session = true;
  const absl::StatusOr<pid_t> pid = Spawn(request);
  if (!pid.ok()) {
    log_.Error("power", absl::StrCat(child.what, ": ", std::string(pid.status().message())));
    unlink(child.file.c_str());
    return;
  }
  log_.Info("power", absl::StrCat(call.on ? "switching on: " : "switching off: ", child.what));
  children_.emplace(*pid, std::move(child));
}

// Another user has no way into our directory.
absl::StatusOr<std::string> PowerPrograms::WriteResumeFile(const PowerCall& call,
                                                           const std::optional<PowerUser>& user) {
  const std::string text = ResumeFileText(call);
  if (!user.has_value()) {
    RETURN_IF_ERROR(EnsurePrivateDirectory(directory_));
    std::string path = absl::StrCat(directory_, "/resume-", getpid(), "-", ++calls_, ".json");
    RETURN_IF_ERROR(WriteFileAtomically(path, text));
    return path;
  }
  std::string path = P_tmpdir "/muster-resume-XXXXXX";
  const UniqueFd file(mkostemp(path.data(), O_CLOEXEC));
  if (!file.valid()) {
    return absl::ErrnoToStatus(errno, path);
  }
  const ssize_t written = write(file.get(), text.data(), text.size());
  if (written != static_cast<ssize_t>(text.size()) ||
      fchown(file.get(), user->uid, user->gid) != 0) {
    const absl::Status failed =
        absl::ErrnoToStatus(written < 0 || errno != 0 ? errno : ENOSPC, path);
    unlink(path.c_str());
    return failed;
  }
  return path;
}

void PowerPrograms::Reap() {
  const auto now = std::chrono::steady_clock::now();
  for (auto entry = children_.begin(); entry != children_.end();) {
    auto& [pid, child] = *entry;
    int status = 0;
    const pid_t ended = waitpid(pid, &status, WNOHANG);
    if (ended == 0) {
      if (now >= child.limit && !child.killed) {
        child.killed = true;
        log_.Error("power", absl::StrCat(child.what, ": takes too long: it is ended"));
        kill(-pid, SIGKILL);  // its session's first group: what it started and did not set apart
      }
      ++entry;
      continue;
    }
    if (ended == pid && status != 0) {
      log_.Error("power", absl::StrCat(child.what, ": ", HowItEnded(status)));
    }
    if (!child.file.empty()) {
      unlink(child.file.c_str());
    }
    entry = children_.erase(entry);
  }
}

}  // namespace muster::daemon
