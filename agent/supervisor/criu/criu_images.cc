#include "agent/supervisor/criu/criu_images.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "scheduler/base/status.h"
#include "scheduler/base/utf8.h"

namespace muster::agent {
namespace {

constexpr const char* kLeader = "leader";
constexpr const char* kLatest = "latest";
constexpr const char* kFailed = ".failed";
constexpr const char* kFailedLog = "failed.log";
constexpr int kRemovals = 100;
constexpr mode_t kOthersMayWrite = 022;
constexpr std::size_t kLogBytes = std::size_t{1} << 18;
constexpr std::size_t kReasonBytesMax = 240;

absl::Status Foreign(const std::string& path, const char* why) {
  return absl::PermissionDeniedError(absl::StrCat("checkpoint ", path, ": ", why));
}

absl::Status CheckOwn(const struct stat& found, uid_t owner, const std::string& path) {
  if (found.st_uid != owner) {
    return Foreign(path, "it is another user's");
  }
  if ((found.st_mode & kOthersMayWrite) != 0) {
    return Foreign(path, "others may write to it");
  }
  return absl::OkStatus();
}

absl::StatusOr<UniqueFd> OpenOwnDirectory(int at, const std::string& name, uid_t owner,
                                          const std::string& path) {
  UniqueFd fd(openat(at, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat found = {};
  if (!fd.valid() || fstat(fd.get(), &found) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("checkpoint ", path));
  }
  RETURN_IF_ERROR(CheckOwn(found, owner, path));
  return fd;
}

// The text of a small plain file; a FIFO does not block.
std::string TextOf(int directory, const std::string& name, std::size_t bytes_max) {
  const UniqueFd fd(
      openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat found = {};
  std::string text(bytes_max, '\0');
  if (!fd.valid() || fstat(fd.get(), &found) != 0 || !S_ISREG(found.st_mode)) {
    return "";
  }
  const ssize_t got = pread(fd.get(), text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

// As a new file, whatever has the name: to open a FIFO would be to wait.
absl::Status WriteText(int directory, const char* name, const std::string& text, mode_t mode) {
  unlinkat(directory, name, 0);
  const UniqueFd fd(
      openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!fd.valid() ||
      write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      fsync(fd.get()) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", name));
  }
  return absl::OkStatus();
}

// A process of that id, or below 0 a group: its number is taken as long as it has a member.
bool IsThere(pid_t id) {
  return kill(id, 0) == 0 || errno == EPERM;
}

// "12", "12.failed"; nothing for other names.
std::optional<RestorableGeneration> Parse(const std::string& name) {
  RestorableGeneration generation;
  generation.failed = absl::EndsWith(name, kFailed);
  const std::string digits(absl::StripSuffix(name, kFailed));
  return absl::SimpleAtoi(digits, &generation.number) && generation.Name() == name
             ? std::optional(generation)
             : std::nullopt;
}

void RemoveTree(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

// Flushes each file of it, and itself; adds up their sizes.
absl::StatusOr<std::uint64_t> Flush(int directory) {
  std::uint64_t bytes = 0;
  for (const std::string& name : NamesIn(directory)) {
    const UniqueFd fd(openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    struct stat found = {};
    if (!fd.valid() || fstat(fd.get(), &found) != 0 || fsync(fd.get()) != 0) {
      return absl::ErrnoToStatus(errno, absl::StrCat("cannot flush ", name));
    }
    bytes += static_cast<std::uint64_t>(found.st_size);
  }
  if (fsync(directory) != 0) {
    return absl::ErrnoToStatus(errno, "cannot flush the directory");
  }
  return bytes;
}

}  // namespace

std::string RestorableGeneration::Name() const {
  return absl::StrCat(number, failed ? kFailed : "");
}

std::vector<std::string> NamesIn(int directory) {
  std::vector<std::string> names;
  const int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(fd < 0 ? nullptr : fdopendir(fd), closedir);
  if (entries == nullptr) {
    return names;
  }
  while (const dirent* entry = readdir(entries.get())) {  // NOLINT(concurrency-mt-unsafe): its own
    const std::string name = entry->d_name;
    if (name != "." && name != "..") {
      names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::uint64_t SizeOf(int directory) {
  std::uint64_t bytes = 0;
  for (const std::string& name : NamesIn(directory)) {
    struct stat found = {};
    if (fstatat(directory, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0) {
      bytes += static_cast<std::uint64_t>(found.st_size);
    }
  }
  return bytes;
}

std::string ReasonIn(int directory, const std::string& name) {
  constexpr const char* kError = "Error (";
  for (const std::string& line :
       std::vector<std::string>(absl::StrSplit(TextOf(directory, name, kLogBytes), '\n'))) {
    // Two lines are not the reason: that it may not raise its limit of open files, and that one of
    // its helpers ended.
    const std::size_t at = line.find(kError);
    const std::size_t end = at == std::string::npos ? at : line.find("): ", at);
    if (end != std::string::npos && line.find("rlimit: ", end) == std::string::npos &&
        line.find("exited, status=", end) == std::string::npos) {
      return EscapeControl(line.substr(end + 3, kReasonBytesMax));
    }
  }
  return "";
}

absl::StatusOr<CriuImages> CriuImages::Open(const std::string& path, uid_t owner) {
  ASSIGN_OR_RETURN(UniqueFd directory, OpenOwnDirectory(AT_FDCWD, path, owner, path));
  return CriuImages(path, owner, std::move(directory));
}

absl::StatusOr<CriuImages> CriuImages::Make(const std::string& path, uid_t owner) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  if (error || (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)) {
    return absl::ErrnoToStatus(error ? error.value() : errno,
                               absl::StrCat("cannot make the checkpoint directory ", path));
  }
  return Open(path, owner);
}

absl::Status CriuImages::WriteScript(const std::string& text) const {
  absl::Status written = WriteText(directory_.get(), "script", text, 0700);
  if (!written.ok()) {
    return absl::Status(written.code(), absl::StrCat(path_, ": ", std::string(written.message())));
  }
  return written;
}

std::vector<RestorableGeneration> CriuImages::Restorable() const {
  std::vector<RestorableGeneration> found;
  for (const std::string& name : NamesIn(directory_.get())) {
    std::optional<RestorableGeneration> generation = Parse(name);
    if (generation.has_value() &&
        absl::SimpleAtoi(TextOf(directory_.get(), name + "/" + kLeader, 32), &generation->leader) &&
        generation->leader > 1) {
      found.push_back(*generation);
    }
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return a.failed != b.failed ? b.failed : a.number > b.number;
  });
  return found;
}

absl::StatusOr<UniqueFd> CriuImages::OpenGeneration(const RestorableGeneration& generation) const {
  const std::string name = generation.Name();
  const std::string path = path_ + "/" + name;
  ASSIGN_OR_RETURN(UniqueFd directory, OpenOwnDirectory(directory_.get(), name, owner_, path));
  for (const std::string& file : NamesIn(directory.get())) {
    struct stat about = {};
    const std::string whole = absl::StrCat(path, "/", file);
    if (fstatat(directory.get(), file.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0) {
      return absl::ErrnoToStatus(errno, absl::StrCat("checkpoint ", whole));
    }
    if (!S_ISREG(about.st_mode) || about.st_nlink != 1) {
      return Foreign(whole, "it is no plain file of its own");
    }
    RETURN_IF_ERROR(CheckOwn(about, owner_, whole));
  }
  return directory;
}

std::vector<pid_t> CriuImages::TakenIds(int generation) {
  std::vector<pid_t> taken;
  for (const std::string& name : NamesIn(generation)) {
    pid_t id = 0;  // of a process or a thread: core-ID.img
    const bool core = absl::StartsWith(name, "core-") && absl::EndsWith(name, ".img") &&
                      absl::SimpleAtoi(name.substr(5, name.size() - 9), &id);
    if (core && id > 1 && (IsThere(id) || IsThere(-id))) {
      taken.push_back(id);
    }
  }
  return taken;
}

void CriuImages::SetAside(const RestorableGeneration& generation) const {
  RestorableGeneration aside = generation;
  aside.failed = true;
  if (!generation.failed) {
    renameat(directory_.get(), generation.Name().c_str(), directory_.get(), aside.Name().c_str());
  }
}

std::string CriuImages::NextName() const {
  return absl::StrCat(".", next_);
}

absl::StatusOr<UniqueFd> CriuImages::BeginNext() {
  next_ = 1;
  for (const std::string& name : NamesIn(directory_.get())) {
    const std::optional<RestorableGeneration> generation = Parse(name);
    if (generation.has_value()) {
      next_ = std::max(next_, generation->number + 1);
    } else if (name[0] == '.') {
      RemoveTree(path_ + "/" + name);
    }
  }
  const std::string name = NextName();
  if (mkdirat(directory_.get(), name.c_str(), 0700) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot make ", path_, "/", name));
  }
  return OpenOwnDirectory(directory_.get(), name, owner_, path_ + "/" + name);
}

absl::StatusOr<SavedGeneration> CriuImages::CommitNext(int next, pid_t leader, std::size_t keep) {
  SavedGeneration saved;
  saved.number = next_;
  RETURN_IF_ERROR(WriteText(next, kLeader, absl::StrCat(leader), 0600));
  ASSIGN_OR_RETURN(saved.bytes, Flush(next));
  const std::string name = absl::StrCat(next_);
  if (renameat(directory_.get(), NextName().c_str(), directory_.get(), name.c_str()) != 0 ||
      fsync(directory_.get()) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot keep ", path_, "/", name));
  }
  constexpr const char* kNewLatest = ".latest";
  RETURN_IF_ERROR(WriteText(directory_.get(), kNewLatest, name + "\n", 0600));
  if (renameat(directory_.get(), kNewLatest, directory_.get(), kLatest) != 0 ||
      fsync(directory_.get()) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path_, "/", kLatest));
  }
  std::size_t whole = 0;
  for (const RestorableGeneration& generation : Restorable()) {
    whole += generation.failed ? 0 : 1;
    if (generation.failed || whole > keep) {
      RemoveTree(path_ + "/" + generation.Name());
    }
  }
  return saved;
}

std::vector<std::uint64_t> CriuImages::SizesBesideNext() const {
  std::vector<std::uint64_t> sizes;
  for (const RestorableGeneration& generation : Restorable()) {
    const absl::StatusOr<UniqueFd> directory = OpenGeneration(generation);
    if (!generation.failed && directory.ok() && sizes.size() + 1 < kKept) {
      sizes.push_back(SizeOf(directory->get()));
    }
  }
  return sizes;
}

void CriuImages::DropNext(int next, const std::string& log) {
  renameat(next, log.c_str(), directory_.get(), kFailedLog);
  RemoveTree(path_ + "/" + NextName());
}

void CriuImages::RemoveGenerations() const {
  for (const std::string& name : NamesIn(directory_.get())) {
    if (Parse(name).has_value() || name[0] == '.') {
      RemoveTree(path_ + "/" + name);
    }
  }
  unlinkat(directory_.get(), kLatest, 0);
}

// What was killed while it wrote may write a moment longer.
void CriuImages::Remove() const {
  for (int tries = 0; tries < kRemovals && std::filesystem::exists(path_); ++tries) {
    RemoveTree(path_);
  }
}

}  // namespace muster::agent
