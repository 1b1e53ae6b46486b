#include "agent/supervisor/user_space/remove_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "agent/supervisor/user_space/as_user.h"
#include "scheduler/base/status.h"
#include "scheduler/base/utf8.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {
namespace {

using Deadline = std::chrono::steady_clock::time_point;

// How many names of a directory are held in memory at a time.
constexpr std::size_t kNamesAtOnce = 4096;
// Of a user's child there is nobody's group that would let it do more than he may.
constexpr gid_t kNoGroup = 65534;

struct CloseDirectory {
  void operator()(DIR* directory) const { closedir(directory); }
};

// Up to kNamesAtOnce of the names in `directory`, from its beginning.
absl::StatusOr<std::vector<std::string>> NamesIn(int directory) {
  const int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, CloseDirectory> stream(copy < 0 ? nullptr : fdopendir(copy));
  if (stream == nullptr) {
    return absl::ErrnoToStatus(errno, "cannot read");
  }
  std::vector<std::string> names;
  while (const dirent* entry =
             readdir(stream.get())) {  // NOLINT(concurrency-mt-unsafe): own stream
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") {
      names.emplace_back(name);
    }
    if (names.size() == kNamesAtOnce) {
      break;
    }
  }
  return names;
}

// The directory, with the rights that it takes to empty and to move it.
UniqueFd OpenOwn(int parent, const std::string& name) {
  UniqueFd place(openat(parent, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat found = {};
  if (!place.valid() || fstat(place.get(), &found) != 0) {
    return UniqueFd();
  }
  if (found.st_uid == geteuid() && (found.st_mode & S_IRWXU) != S_IRWXU) {
    chmod(absl::StrCat("/proc/self/fd/", place.get()).c_str(), S_IRWXU);
  }
  return UniqueFd(openat(place.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

// A directory of root's alone, made when it is first needed, for what may not be removed.
class Quarantine {
 public:
  // No path: there is none.
  Quarantine(std::string path, std::vector<std::string>* kept)
      : path_(std::move(path)), kept_(kept) {}

  // Moves one entry there, whole. `from` is its path, for the record.
  absl::Status Keep(int directory, const std::string& name, const std::string& from) {
    RETURN_IF_ERROR(Open());
    struct stat found = {};
    if (fstatat(directory, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) {
      return absl::ErrnoToStatus(errno, absl::StrCat(from, ": cannot look"));
    }
    const std::string to = absl::StrCat(absl::ToUnixMicros(absl::Now()), ".uid", found.st_uid);
    if (renameat2(directory, name.c_str(), place_.get(), to.c_str(), RENAME_NOREPLACE) != 0) {
      return absl::ErrnoToStatus(errno, absl::StrCat(from, ": cannot move to ", path_));
    }
    if (kept_ != nullptr) {
      kept_->push_back(absl::StrCat(from, ", of uid ", found.st_uid,
                                    ", was in another user's directory: kept as ", path_, "/", to));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Open() {
    if (place_.valid()) {
      return absl::OkStatus();
    }
    if (path_.empty()) {
      return absl::FailedPreconditionError("another user's files are in it");
    }
    if (mkdir(path_.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
      return absl::ErrnoToStatus(errno, absl::StrCat(path_, ": cannot make the directory"));
    }
    UniqueFd place(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat found = {};
    if (!place.valid() || fstat(place.get(), &found) != 0) {
      return absl::ErrnoToStatus(errno, absl::StrCat(path_, ": cannot open"));
    }
    if (found.st_uid != geteuid() || (found.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
      return absl::FailedPreconditionError(absl::StrCat(
          path_, ": is not root's alone; run: chown 0 ", path_, "; chmod 700 ", path_));
    }
    place_ = std::move(place);
    return absl::OkStatus();
  }

  const std::string path_;
  std::vector<std::string>* const kept_;
  UniqueFd place_;
};

// Empties one directory, the top.
class Emptying {
 public:
  // `path` is for errors.
  Emptying(int top, std::string path, Deadline deadline, Quarantine& quarantine)
      : top_(top), path_(std::move(path)), deadline_(deadline), quarantine_(quarantine) {}

  absl::Status Run() {
    struct stat own = {};
    if (fstat(top_, &own) != 0) {
      return absl::ErrnoToStatus(errno, absl::StrCat(path_, ": cannot look"));
    }
    device_ = own.st_dev;
    if (geteuid() == 0 && own.st_uid != 0) {
      EmptyAsOwner(top_, own.st_uid, path_);
      return first_;
    }
    while (true) {
      first_ = absl::OkStatus();
      removed_ = false;
      absl::StatusOr<std::vector<std::string>> names = NamesIn(top_);
      if (!names.ok()) {
        Note(absl::StrCat(path_, ": "), names.status());
        return first_;
      }
      for (const std::string& name : *names) {
        RETURN_IF_ERROR(CheckTime());
        RemoveFromTop(name);
      }
      if (names->empty() || !removed_) {
        return names->empty() ? absl::OkStatus() : first_;
      }
    }
  }

 private:
  absl::Status CheckTime() const {
    return std::chrono::steady_clock::now() < deadline_
               ? absl::OkStatus()
               : absl::DeadlineExceededError(absl::StrCat(path_, ": takes too long to remove"));
  }
  void Note(const std::string& where, const absl::Status& status) {
    first_.Update(absl::Status(status.code(), where + std::string(status.message())));
  }
  void NoteErrno(const std::string& name, const char* what) {
    Note(absl::StrCat(path_, "/", name, ": "), absl::ErrnoToStatus(errno, what));
  }

  // True when it is gone, or cannot go for a reason that was noted; else it is a directory with
  // something in it.
  bool RemoveEntry(int parent, const std::string& name) {
    if (unlinkat(parent, name.c_str(), 0) == 0 || errno == ENOENT) {
      removed_ = true;
      return true;
    }
    const int why = errno;
    if (why != EISDIR && why != EPERM) {
      NoteErrno(name, "cannot remove");
      return true;
    }
    if (unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) {
      removed_ = true;
      return true;
    }
    errno = errno == ENOTDIR ? why : errno;
    if (errno != ENOTEMPTY && errno != EEXIST && errno != EACCES) {
      NoteErrno(name, "cannot remove");
      return true;
    }
    return false;
  }

  void RemoveFromTop(const std::string& name) {
    if (RemoveEntry(top_, name)) {
      return;
    }
    const UniqueFd directory = OpenOwn(top_, name);
    if (!directory.valid()) {
      NoteErrno(name, "cannot open");
      return;
    }
    struct stat found = {};
    if (fstat(directory.get(), &found) != 0 || found.st_dev != device_) {
      Note(absl::StrCat(path_, "/", name, ": "),
           absl::FailedPreconditionError("another file system is mounted there: unmount it"));
      return;
    }
    if (geteuid() == 0 && found.st_uid != 0) {
      EmptyAsOwner(directory.get(), found.st_uid, absl::StrCat(path_, "/", name));
    } else {
      Flatten(directory.get());
    }
    if (unlinkat(top_, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) {
      removed_ = true;
    } else {
      NoteErrno(name, "cannot remove");
    }
  }

  // What lies in a user's directory he may have moved there, whoever's it is: so it is removed with
  // his rights alone, however deep, and what he may not remove is kept.
  void EmptyAsOwner(int directory, uid_t owner, const std::string& where) {
    const JobUser user = {
        .uid = owner, .gid = kNoGroup, .groups = {kNoGroup}, .name = absl::StrCat(owner)};
    const auto left = std::chrono::ceil<Duration>(deadline_ - std::chrono::steady_clock::now());
    const absl::StatusOr<Brought> emptied = RunAsUser(
        &user, left,
        [&]() -> absl::StatusOr<Brought> {
          fchmod(directory, S_IRWXU);
          absl::Status done = Emptying(directory, where, deadline_, quarantine_).Run();
          if (absl::IsDeadlineExceeded(done)) {
            return done;
          }
          return Brought{.descriptors = {}, .text = std::string(done.message())};
        },
        directory);
    if (!emptied.ok()) {
      Note("", emptied.status());
    } else if (!emptied->text.empty()) {
      KeepRest(directory, owner, where, /*below=*/true);
    }
  }

  // REQUIRES: the owner has removed what he may, and moved his own directories up to `directory`.
  void KeepRest(int directory, uid_t owner, const std::string& where, bool below) {
    std::size_t before = 0;
    do {
      const absl::StatusOr<std::vector<std::string>> names = NamesIn(directory);
      before = kept_;
      for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
        if (!CheckTime().ok()) {
          Note("", CheckTime());
          return;
        }
        KeepOne(directory, owner, name, absl::StrCat(where, "/", name), below);
      }
    } while (kept_ != before);
  }

  void KeepOne(int directory, uid_t owner, const std::string& name, const std::string& where,
               bool below) {
    const UniqueFd place(
        openat(directory, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat found = {};
    if (below && place.valid() && fstat(place.get(), &found) == 0 && found.st_uid == owner &&
        found.st_dev == device_) {
      KeepRest(place.get(), owner, where, /*below=*/false);
      if (unlinkat(directory, name.c_str(), AT_REMOVEDIR) != 0) {
        Note("", absl::ErrnoToStatus(errno, absl::StrCat(where, ": cannot remove")));
        return;
      }
    } else if (const absl::Status kept = quarantine_.Keep(directory, name, where); !kept.ok()) {
      Note("", kept);
      return;
    }
    ++kept_;
  }

  // Leaves nothing in `directory`: its own directories go to the top.
  void Flatten(int directory) {
    bool moved = true;
    while (moved && CheckTime().ok()) {
      moved = false;
      const absl::StatusOr<std::vector<std::string>> names = NamesIn(directory);
      for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
        if (!CheckTime().ok()) {
          return;
        }
        if (RemoveEntry(directory, name) || MoveToTop(directory, name)) {
          moved = true;
        }
      }
      moved = moved && names.ok() && names->size() == kNamesAtOnce;
    }
  }

  bool MoveToTop(int directory, const std::string& name) {
    const UniqueFd movable = OpenOwn(directory, name);  // what is moved must be writable
    for (int tries = 0; tries < 1000; ++tries) {
      const std::string place = absl::StrCat(".", ++number_);
      if (renameat(directory, name.c_str(), top_, place.c_str()) == 0) {
        removed_ = true;
        return true;
      }
      if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR) {
        NoteErrno(name, "cannot move");
        return false;
      }
    }
    return false;
  }

  const int top_;
  const std::string path_;
  const Deadline deadline_;
  Quarantine& quarantine_;
  dev_t device_ = 0;
  bool removed_ = false;  // something was, in this round
  absl::Status first_;    // what went wrong first in this round
  std::uint64_t number_ = 0;
  std::size_t kept_ = 0;  // or removed, of what a user could not remove
};

absl::Status Remove(const std::string& path, Duration limit, Quarantine& quarantine) {
  if (unlink(path.c_str()) == 0 || errno == ENOENT) {
    return absl::OkStatus();
  }
  if (errno != EISDIR && errno != EPERM) {
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot remove"));
  }
  const UniqueFd top = OpenOwn(AT_FDCWD, path);
  if (!top.valid()) {
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot open"));
  }
  const Deadline deadline = std::chrono::steady_clock::now() + limit;
  RETURN_IF_ERROR(Emptying(top.get(), path, deadline, quarantine).Run());
  if (rmdir(path.c_str()) != 0 && errno != ENOENT) {
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot remove"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RemoveTree(const std::string& path, Duration limit) {
  Quarantine none("", nullptr);
  return Remove(path, limit, none);
}

absl::Status SweepTrash(const std::string& trash, Duration limit, std::vector<std::string>* kept) {
  const UniqueFd directory = OpenOwn(AT_FDCWD, trash);
  if (!directory.valid()) {
    return absl::ErrnoToStatus(errno, absl::StrCat(trash, ": cannot open"));
  }
  absl::StatusOr<std::vector<std::string>> names = NamesIn(directory.get());
  if (!names.ok()) {
    return absl::Status(names.status().code(),
                        absl::StrCat(trash, ": ", std::string(names.status().message())));
  }
  const auto number = [](const std::string& name) {
    std::uint64_t value = 0;
    return absl::SimpleAtoi(name, &value) ? value : 0;
  };
  std::sort(names->begin(), names->end(),
            [&](const auto& a, const auto& b) { return number(a) > number(b); });
  absl::Status first;
  Quarantine quarantine(QuarantineOf(trash), kept);
  for (const std::string& name : *names) {
    first.Update(Remove(absl::StrCat(trash, "/", name), limit, quarantine));
  }
  return first;
}

std::string QuarantineOf(const std::string& trash) {
  return (std::filesystem::path(trash).parent_path() / "quarantine").string();
}

bool SweepForParent(const std::string& trash) {
  constexpr Duration kLimit{60000};
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::vector<std::string> kept;
  const absl::Status swept = SweepTrash(trash, kLimit, &kept);
  for (const std::string& line : kept) {
    std::fprintf(stderr, "%s\n", EscapeControl(line).c_str());
  }
  if (!swept.ok()) {
    std::fprintf(stderr, "%s\n", EscapeControl(std::string(swept.message())).c_str());
  }
  return swept.ok();
}

}  // namespace muster::agent
