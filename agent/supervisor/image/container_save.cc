#include "agent/supervisor/image/container_save.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "agent/supervisor/attempt/replace_file.h"
#include "agent/supervisor/image/system/own_namespaces.h"
#include "agent/supervisor/image/system/tool_run.h"
#include "scheduler/base/status.h"

namespace muster::agent {
namespace {

constexpr Duration kSaveLimit = std::chrono::hours(2);
constexpr const char* kSaveOption = "--container-save: ";

std::string FolderOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

absl::Status MakeFolder(const std::string& path) {
  return mkdir(path.c_str(), 0755) == 0 || errno == EEXIST
             ? absl::OkStatus()
             : absl::ErrnoToStatus(errno, absl::StrCat("cannot make ", path));
}

// What the image says of its variables, where a squashfs file keeps it.
absl::Status KeepEnvironment(const std::string& folder, const ContainerMade& saved) {
  RETURN_IF_ERROR(MakeFolder(folder));
  RETURN_IF_ERROR(MakeFolder(folder + "/etc"));
  return ReplaceFile(folder + "/etc/environment", absl::StrJoin(saved.environment, "\n") + "\n");
}

absl::Status Write(const ContainerOrder& order, const std::vector<std::string>& tools,
                   const std::string& draft) {
  const ContainerMade& saved = order.saved;
  const std::string said = saved.changes + "/said";
  const std::string whole = saved.changes + "/whole";
  RETURN_IF_ERROR(KeepEnvironment(said, saved));
  RETURN_IF_ERROR(MakeFolder(whole));
  RETURN_IF_ERROR(EnterOwnNamespaces());
  RETURN_IF_ERROR(MountToRead({said, saved.changes + "/upper", saved.rootfs}, whole));
  ToolRun run{
      .command = {"mksquashfs", whole, draft, "-quiet", "-no-progress", "-noappend", "-all-root"},
      .environment = tools,
      .limit = kSaveLimit};
  RETURN_IF_ERROR(RunTool(run).status());
  // Not by a rename, which would replace a file that somebody has made meanwhile.
  if (link(draft.c_str(), order.spec.save.c_str()) != 0) {
    return absl::ErrnoToStatus(errno, "cannot name the file");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckSaveTarget(const std::string& path) {
  if (path.empty()) {
    return absl::OkStatus();
  }
  struct stat found = {};
  if (lstat(path.c_str(), &found) == 0) {
    return absl::AlreadyExistsError(
        absl::StrCat(kSaveOption, path, " exists: name another file, or remove it"));
  }
  if (errno != ENOENT || access(FolderOf(path).c_str(), W_OK | X_OK) != 0) {
    return absl::ErrnoToStatus(
        errno, absl::StrCat(kSaveOption, "cannot write to ", FolderOf(path), " on this node"));
  }
  return absl::OkStatus();
}

absl::Status SaveContainer(const ContainerOrder& order, const std::vector<std::string>& tools) {
  RETURN_IF_ERROR(CheckSaveTarget(order.spec.save));
  const std::string draft = absl::StrCat(order.spec.save, ".", order.attempt, ".part");
  const absl::Status written = Write(order, tools, draft);
  unlink(draft.c_str());
  return written.ok() ? written
                      : absl::Status(written.code(),
                                     absl::StrCat(kSaveOption, "cannot save to ", order.spec.save,
                                                  ": ", std::string(written.message())));
}

}  // namespace muster::agent
