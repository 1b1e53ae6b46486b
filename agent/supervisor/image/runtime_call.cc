#include "agent/supervisor/image/runtime_call.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "agent/supervisor/attempt/replace_file.h"
#include "nlohmann/json.hpp"
#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/process.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {
namespace {

using CallJson = nlohmann::json;

constexpr const char* kId = "muster";
constexpr const char* kConfigFile = "/config.json";
// Locks in a memory segment would be those of every user's podman here.
constexpr const char* kPodmanSettings =
    "[containers]\ndefault_ulimits = []\nlabel = false\n[engine]\nlock_type = \"file\"\n"
    "events_logger = \"none\"\ncgroup_manager = \"cgroupfs\"\n";

// What it may not raise it is told to leave.
std::string LimitOption(const char* name, int resource) {
  rlimit now = {};
  getrlimit(static_cast<__rlimit_resource_t>(resource), &now);
  const auto text = [](rlim_t value) {
    return value == RLIM_INFINITY ? std::string("-1") : absl::StrCat(value);
  };
  return absl::StrCat("--ulimit=", name, "=", text(now.rlim_cur), ":", text(now.rlim_max));
}

absl::StatusOr<std::string> VolumeOption(const CallJson& mount) {
  const auto source = mount.at("source").get<std::string>();
  const auto destination = mount.at("destination").get<std::string>();
  const auto options = mount.at("options").get<std::vector<std::string>>();
  if (absl::StrContains(source, ":") || absl::StrContains(destination, ":")) {
    return absl::InvalidArgumentError(
        absl::StrCat("podman cannot mount a path that holds a colon: ", source));
  }
  return absl::StrCat("--volume=", source, ":", destination, ":", absl::StrJoin(options, ","));
}

// The same directory by a path that podman takes: sockets are below it. In a namespace of our own,
// where nobody has what else is at that place.
absl::StatusOr<std::string> ShortPlace(const std::string& directory) {
  constexpr std::size_t kLongest = 50;
  if (directory.size() <= kLongest) {
    return directory;
  }
  for (const char* place : {"/run/lock", "/media", "/mnt"}) {
    if (mount(directory.c_str(), place, nullptr, MS_BIND, nullptr) == 0) {
      return place;
    }
  }
  return absl::ErrnoToStatus(errno, "no place for what podman keeps: make /run/lock");
}

// What a vendor's description has run, in a directory of hooks.
absl::Status WriteHooks(const CallJson& config, const std::string& directory) {
  if (mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot make ", directory));
  }
  int number = 0;
  const CallJson stages = config.value("hooks", CallJson::object());
  for (const auto& [stage, hooks] : stages.items()) {
    for (const CallJson& hook : hooks) {
      const CallJson document = {
          {"version", "1.0.0"}, {"hook", hook}, {"when", {{"always", true}}}, {"stages", {stage}}};
      RETURN_IF_ERROR(
          ReplaceFile(absl::StrCat(directory, "/", ++number, ".json"), document.dump()));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::string>> PodmanOptions(const std::string& config) {
  const CallJson document = CallJson::parse(config, nullptr, /*allow_exceptions=*/false);
  std::vector<std::string> options;
  try {
    const CallJson& user = document.at("process").at("user");
    const auto uid = user.at("uid").get<std::uint32_t>();
    const auto gid = user.at("gid").get<std::uint32_t>();
    options = {absl::StrCat("--user=", uid, ":", gid), absl::StrCat("--uidmap=", uid, ":0:1"),
               absl::StrCat("--gidmap=", gid, ":0:1"), LimitOption("nofile", RLIMIT_NOFILE),
               LimitOption("nproc", RLIMIT_NPROC)};
    if (document.at("root").at("readonly").get<bool>()) {
      options.insert(options.end(), {"--read-only", "--read-only-tmpfs=false"});
    }
    for (const CallJson& mount : document.at("mounts")) {
      if (mount.at("type") == "none") {  // its /dev podman makes by itself
        ASSIGN_OR_RETURN(std::string volume, VolumeOption(mount));
        options.push_back(std::move(volume));
      }
    }
    options.insert(options.end(), {"--rootfs", document.at("root").at("path").get<std::string>(),
                                   document.at("process").at("args").at(0).get<std::string>()});
  } catch (const CallJson::exception&) {
    return absl::InternalError("the container's description cannot be read");
  }
  return options;
}

RuntimeCall::RuntimeCall(std::string runtime, std::string scratch)
    : runtime_(std::move(runtime)),
      scratch_(std::move(scratch)),
      is_podman_(std::filesystem::path(runtime_).filename() == "podman"),
      state_(scratch_ + "/state") {}

// With nothing on its standard streams, which its container would keep.
absl::Status RuntimeCall::Call(const std::vector<std::string>& words) const {
  const std::string log = scratch_ + "/runtime.log";
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  const UniqueFd said(open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  SpawnRequest request;
  request.program = runtime_;
  request.arguments = {runtime_};
  if (is_podman_) {
    for (const char* option : {"--root=", "--runroot=", "--tmpdir="}) {
      request.arguments.push_back(absl::StrCat(option, state_));
    }
    request.arguments.insert(request.arguments.end(),
                             {"--storage-driver=vfs", "--runtime-flag=root=" + state_ + "/runtime",
                              "--hooks-dir=" + scratch_ + "/hooks"});
  } else {
    request.arguments.insert(request.arguments.end(), {"--root", state_, "--log", log});
  }
  if (std::filesystem::path(runtime_).filename() == "crun") {
    request.arguments.emplace_back("--cgroup-manager=disabled");
  }
  request.arguments.insert(request.arguments.end(), words.begin(), words.end());
  request.environment = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                         "XDG_RUNTIME_DIR=" + scratch_, "HOME=" + scratch_,
                         "CONTAINERS_CONF=" + scratch_ + "/containers.conf"};
  request.fds = {{null.get(), STDIN_FILENO},
                 {null.get(), STDOUT_FILENO},
                 {is_podman_ ? said.get() : null.get(), STDERR_FILENO}};
  ASSIGN_OR_RETURN(const pid_t pid, Spawn(request));
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    return absl::OkStatus();
  }
  const std::string text = ReadFile(log).value_or("");
  const std::vector<std::string> lines = absl::StrSplit(text, '\n', absl::SkipEmpty());
  return absl::InternalError(absl::StrCat("cannot make the container: ", runtime_, ": ",
                                          lines.empty() ? "it failed" : lines.back()));
}

// It has its storage, its locks and its monitor below `scratch`. A container without a control
// group of its own must have processes of its own: nobody enters those.
absl::Status RuntimeCall::CreateByPodman() {
  ASSIGN_OR_RETURN(const std::string config, ReadFile(scratch_ + kConfigFile));
  ASSIGN_OR_RETURN(const std::vector<std::string> options, PodmanOptions(config));
  ASSIGN_OR_RETURN(state_, ShortPlace(state_));
  RETURN_IF_ERROR(ReplaceFile(scratch_ + "/containers.conf", kPodmanSettings));
  RETURN_IF_ERROR(WriteHooks(CallJson::parse(config, nullptr, false), scratch_ + "/hooks"));
  std::vector<std::string> words = {"create",
                                    "--name=muster",
                                    "--pidfile=" + scratch_ + "/pid",
                                    "--cgroups=disabled",
                                    "--network=host",
                                    "--uts=host",
                                    "--pid=private",
                                    "--ipc=private",
                                    "--systemd=false",
                                    "--no-hosts",
                                    "--dns=none",
                                    "--log-driver=none",
                                    "--security-opt=seccomp=unconfined",
                                    "--security-opt=unmask=ALL"};
  words.insert(words.end(), options.begin(), options.end());
  RETURN_IF_ERROR(Call(words));
  return Call({"init", kId});
}

absl::StatusOr<pid_t> RuntimeCall::Create() {
  const std::string pid_file = scratch_ + "/pid";
  RETURN_IF_ERROR(is_podman_ ? CreateByPodman()
                             : Call({"create", "--bundle", scratch_, "--pid-file", pid_file, kId}));
  ASSIGN_OR_RETURN(const std::string text, ReadFile(pid_file));
  pid_t pid = 0;
  if (!absl::SimpleAtoi(text, &pid) || pid <= 1) {
    return absl::InternalError(absl::StrCat("cannot make the container: ", runtime_, " made none"));
  }
  return pid;
}

absl::Status RuntimeCall::Delete() const {
  return is_podman_ ? Call({"rm", "--force", "--time=0", kId}) : Call({"delete", "--force", kId});
}

}  // namespace muster::agent
