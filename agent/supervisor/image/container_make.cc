#include "agent/supervisor/image/container_make.h"

#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/attempt/replace_file.h"
#include "agent/supervisor/image/cache/image_cache.h"
#include "agent/supervisor/image/container_save.h"
#include "agent/supervisor/image/image_file.h"
#include "agent/supervisor/image/image_source.h"
#include "agent/supervisor/image/runtime_call.h"
#include "agent/supervisor/image/runtime_config.h"
#include "agent/supervisor/image/system/own_namespaces.h"
#include "agent/supervisor/image/system/tool_run.h"
#include "scheduler/base/status.h"

namespace muster::agent {
namespace {

constexpr std::size_t kUserFileBytesMax = std::size_t{1} << 20;
constexpr std::chrono::seconds kLdconfigLimit{10};

// Who the user is outside.
struct Self {
  uid_t uid = geteuid();
  gid_t gid = getegid();
  std::string name;
  std::string home;
};

Self FindSelf() {
  Self self;
  const passwd* const entry = getpwuid(self.uid);  // NOLINT(concurrency-mt-unsafe): one thread
  self.name = entry == nullptr ? absl::StrCat("user", self.uid) : entry->pw_name;
  self.home = entry == nullptr ? "/" : entry->pw_dir;
  return self;
}

// Each that cannot be seen by the user is refused by its name, before anything is made.
absl::Status CheckSources(const std::vector<ContainerMount>& mounts) {
  for (const ContainerMount& mount : mounts) {
    if (access(mount.source.c_str(), R_OK) != 0) {
      return absl::ErrnoToStatus(
          errno, absl::StrCat("--container-mounts: cannot read ", mount.source, " on this node"));
    }
  }
  return absl::OkStatus();
}

class Maker {
 public:
  Maker(const ContainerOrder& order, const std::vector<std::string>& environment,
        ImageSharing sharing)
      : order_(order),
        spec_(order.spec),
        environment_(environment),
        sharing_(std::move(sharing)),
        self_(FindSelf()) {}

  absl::StatusOr<MadeContainer> Make() {
    RETURN_IF_ERROR(CheckSources(spec_.mounts));
    RETURN_IF_ERROR(CheckSaveTarget(spec_.save));
    ASSIGN_OR_RETURN(const ImageCache cache,
                     ImageCache::Open(absl::StrCat(order_.settings.cache, "/", self_.uid),
                                      order_.settings.cache_size));
    ASSIGN_OR_RETURN(
        FoundImage found,
        FindImage(spec_.image, cache,
                  {environment_, std::chrono::seconds(order_.settings.fetch_patience),
                   // What is saved is read once more, when the mount is not ours any more.
                   order_.settings.squashfuse && spec_.save.empty(), sharing_}));
    ASSIGN_OR_RETURN(LockedDirectory scratch, cache.MakeScratch(order_.attempt));
    scratch_ = scratch.path;
    RETURN_IF_ERROR(MakeParts({"merged", "state"}, scratch_));
    std::string changes = scratch_;
    if (!spec_.name.empty()) {
      ASSIGN_OR_RETURN(LockedDirectory named, cache.OpenNamed(spec_.name, found.key));
      changes = named.path;
      made_.locks.push_back(std::move(named.lock));
    }
    RETURN_IF_ERROR(MakeParts({"upper", "work"}, changes));
    const ImageFacts& facts = found.image.facts;
    made_.facts.image = facts.digest;
    made_.facts.rootfs = found.image.rootfs;
    made_.facts.changes = changes;
    made_.facts.environment = facts.environment;
    made_.facts.work_dir = facts.work_dir;
    made_.facts.entrypoint = facts.entrypoint;
    RETURN_IF_ERROR(EnterOwnNamespaces());
    RETURN_IF_ERROR(ShowControlGroups());
    if (found.mount.has_value()) {
      RETURN_IF_ERROR(found.mount->MountAt(found.image.rootfs));
      made_.facts.environment = EnvironmentIn(found.image.rootfs);
    }
    AddDevices();
    RETURN_IF_ERROR(DescribeUser(found.image.rootfs));
    RETURN_IF_ERROR(ReplaceFile(scratch_ + "/config.json", RuntimeConfig(Parts())));
    RETURN_IF_ERROR(MountRoot(found.image.rootfs, changes));
    RETURN_IF_ERROR(TakeNamespaces());
    made_.locks.push_back(std::move(scratch.lock));
    if (found.image.lock.valid()) {
      made_.locks.push_back(std::move(found.image.lock));
    }
    return std::move(made_);
  }

 private:
  [[nodiscard]] bool changes_are_kept() const {
    return spec_.writable || !spec_.name.empty() || !spec_.save.empty();
  }

  static absl::Status MakeParts(const std::vector<std::string>& names, const std::string& where) {
    for (const std::string& name : names) {
      const std::string path = absl::StrCat(where, "/", name);
      if (mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) {
        return absl::ErrnoToStatus(errno, absl::StrCat("cannot make ", path));
      }
    }
    return absl::OkStatus();
  }

  // By the vendor's description, where there is one.
  void AddDevices() {
    devices_.device_files = order_.device_files;
    if (order_.gpus.empty()) {
      return;
    }
    for (const std::string& text : ReadDescriptions({"/etc/cdi", "/var/run/cdi"})) {
      absl::StatusOr<DeviceEdits> edits = EditsFrom(text, order_.gpus);
      if (edits.ok()) {
        Take(*std::move(edits));
        return;
      }
    }
    const absl::StatusOr<std::string> listed =
        RunTool({.command = {"ldconfig", "-p"}, .environment = {}, .limit = kLdconfigLimit});
    std::vector<std::string> tools;
    for (const char* tool : {"nvidia-smi", "nvidia-debugdump", "nvidia-cuda-mps-control"}) {
      if (absl::StatusOr<std::string> path = FindTool(tool); path.ok()) {
        tools.push_back(*std::move(path));
      }
    }
    if (listed.ok()) {
      Take(EditsFromDriver(*listed, tools));
    }
  }

  // Device files that the job may not open are left out: the description may know of others.
  void Take(DeviceEdits edits) {
    for (std::string& file : edits.device_files) {
      if (std::find(devices_.device_files.begin(), devices_.device_files.end(), file) ==
          devices_.device_files.end()) {
        devices_.device_files.push_back(std::move(file));
      }
    }
    made_.facts.environment.insert(made_.facts.environment.end(), edits.environment.begin(),
                                   edits.environment.end());
    devices_.mounts = std::move(edits.mounts);
    devices_.hooks = std::move(edits.hooks);
  }

  // The user is known inside by name, whoever made the image.
  absl::Status DescribeUser(const std::string& rootfs) {
    const uid_t uid = spec_.remap_root ? 0 : self_.uid;
    const gid_t gid = spec_.remap_root ? 0 : self_.gid;
    const std::string name = spec_.remap_root ? "root" : self_.name;
    const std::string home = spec_.remap_root && !spec_.mount_home ? "/root" : self_.home;
    const struct {
      const char* file;
      std::string line;
      unsigned id;
    } entries[] = {
        {"passwd", absl::StrCat(name, ":x:", uid, ":", gid, "::", home, ":/bin/sh"), uid},
        {"group", absl::StrCat(name, ":x:", gid, ":"), gid}};
    for (const auto& entry : entries) {
      const std::string inside = absl::StrCat("etc/", entry.file);
      const std::string text = ReadInRoot(rootfs, inside, kUserFileBytesMax).value_or("");
      const std::string own = absl::StrCat(scratch_, "/", entry.file);
      RETURN_IF_ERROR(ReplaceFile(own, WithEntry(text, entry.line, entry.id)));
      mounts_.push_back({own, "/" + inside, !changes_are_kept()});
    }
    return absl::OkStatus();
  }

  RuntimeParts Parts() {
    RuntimeParts parts;
    parts.root = scratch_ + "/merged";
    parts.read_only = !changes_are_kept();
    parts.uid = spec_.remap_root ? 0 : self_.uid;
    parts.gid = spec_.remap_root ? 0 : self_.gid;
    std::error_code error;
    parts.program = order_.rank_program.empty()
                        ? std::filesystem::read_symlink("/proc/self/exe", error).string()
                        : order_.rank_program;
    parts.devices = devices_;
    for (const char* file : {"/etc/resolv.conf", "/etc/hosts", "/etc/localtime"}) {
      if (access(file, R_OK) == 0) {
        parts.mounts.push_back({std::filesystem::canonical(file, error).string(), file, true});
      }
    }
    parts.mounts.insert(parts.mounts.end(), mounts_.begin(), mounts_.end());
    for (const ContainerMount& mount : order_.settings.mounts) {
      if (access(mount.source.c_str(), R_OK) == 0) {
        parts.mounts.push_back(mount);
      }
    }
    if (spec_.mount_home && access(self_.home.c_str(), R_OK) == 0) {
      parts.mounts.push_back({self_.home, self_.home, false});
    }
    for (const std::string& shared : order_.shared) {
      parts.mounts.push_back({shared, shared, false});
    }
    parts.mounts.insert(parts.mounts.end(), spec_.mounts.begin(), spec_.mounts.end());
    return parts;
  }

  absl::Status MountRoot(const std::string& rootfs, const std::string& changes) {
    const std::string merged = scratch_ + "/merged";
    const absl::Status layered = MountLayers(rootfs, changes + "/upper", changes + "/work", merged);
    // A kernel or a file system without layers: what need not be changed can be had as it is.
    return layered.ok() || changes_are_kept() ? layered : MountAlone(rootfs, merged);
  }

  // The runtime's first process has them; it never runs the program that is named in its document.
  absl::Status TakeNamespaces() {
    RuntimeCall runtime(order_.settings.runtime, scratch_);
    ASSIGN_OR_RETURN(const pid_t pid, runtime.Create());
    const UniqueFd first(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    const auto take = [pid](const char* name) {
      return UniqueFd(
          open(absl::StrCat("/proc/", pid, "/ns/", name).c_str(), O_RDONLY | O_CLOEXEC));
    };
    made_.users = take("user");
    made_.mounts = take("mnt");
    const absl::Status taken =
        first.valid() && made_.users.valid() && made_.mounts.valid()
            ? absl::OkStatus()
            : absl::ErrnoToStatus(errno, "cannot take the container's namespaces");
    EndFirst(first);
    const absl::Status deleted = runtime.Delete();
    return taken.ok() ? deleted : taken;
  }

  // Without control groups of its own the runtime does not end it.
  static void EndFirst(const UniqueFd& process) {
    constexpr int kGoneWithinMs = 1000;
    syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0);
    pollfd ended = {process.get(), POLLIN, 0};
    poll(&ended, 1, kGoneWithinMs);
  }

  const ContainerOrder& order_;
  const ContainerSpec& spec_;
  const std::vector<std::string>& environment_;
  const ImageSharing sharing_;
  const Self self_;
  std::string scratch_;
  DeviceEdits devices_;
  std::vector<ContainerMount> mounts_;
  MadeContainer made_;
};

}  // namespace

absl::StatusOr<MadeContainer> MakeContainer(
    const ContainerOrder& order, const std::vector<std::string>& environment,
    const std::function<bool(const ImageWanted& wanted)>& announce) {
  ImageSharing sharing{.one_machine = order.settings.one_machine};
  if (order.settings.share) {
    sharing.announce = announce;
  }
  return Maker(order, environment, std::move(sharing)).Make();
}

}  // namespace muster::agent
