#include "cli/stage/copied_tree.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/model/value/fingerprint.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPieceBytes = std::size_t{16} << 20;
constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
constexpr mode_t kModeBits = 0777;
constexpr mode_t kWhileCopied = 0600;
constexpr mode_t kDirectoryWhileCopied = 0700;

// Never InvalidArgument: the usage was right.
absl::Status Failed(const fs::path& path, const char* what, int error) {
  return absl::FailedPreconditionError(
      absl::StrCat(Quote(path.string()), ": ", what, ": ", std::generic_category().message(error)));
}

// What is kept of each of perhaps millions.
struct Entry {
  std::string path;  // below the top; empty: the top itself
  mode_t mode = 0;
  off_t size = 0;
  std::array<timespec, 2> times = {};  // of access and of change, as utimensat takes them
};

Entry EntryOf(std::string path, const struct stat& info) {
  return {std::move(path), info.st_mode, info.st_size, {info.st_atim, info.st_mtim}};
}

bool SameTime(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

bool IsThere(const Entry& original, const fs::path& copy) {
  struct stat found = {};
  return lstat(copy.c_str(), &found) == 0 && S_ISREG(found.st_mode) &&
         found.st_size == original.size && SameTime(found.st_mtim, original.times[1]);
}

// Made beside it, and renamed once it is whole.
fs::path MadeAs(const fs::path& path, const std::string& label) {
  constexpr std::size_t kNameMax = 200;
  return path.parent_path() /
         absl::StrCat(".", path.filename().string().substr(0, kNameMax), ".stage-", label);
}

void Count(const Entry& entry, CopiedTree* tree) {
  tree->files += S_ISREG(entry.mode) ? 1 : 0;
  tree->bytes += S_ISREG(entry.mode) ? static_cast<std::uint64_t>(entry.size) : 0;
}

// A directory before what it holds.
absl::StatusOr<std::vector<Entry>> ListTree(const fs::path& top, CopiedTree* tree) {
  struct stat info = {};
  if (stat(top.c_str(), &info) != 0) {
    return Failed(top, "cannot be copied", errno);
  }
  if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrCat(Quote(top.string()), ": is neither a file nor a directory: name one"));
  }
  std::vector<Entry> entries = {EntryOf("", info)};
  Count(entries.front(), tree);
  if (S_ISREG(info.st_mode)) {
    return entries;
  }
  std::error_code error;
  for (fs::recursive_directory_iterator each(top, error), end; !error && each != end;
       each.increment(error)) {
    const fs::path& path = each->path();
    if (lstat(path.c_str(), &info) != 0) {
      return Failed(path, "cannot be looked at", errno);
    }
    if (S_ISREG(info.st_mode) || S_ISDIR(info.st_mode) || S_ISLNK(info.st_mode)) {
      entries.push_back(EntryOf(path.lexically_relative(top).string(), info));
      Count(entries.back(), tree);
    } else {
      tree->left_out.push_back(path.string());
    }
  }
  if (error) {
    return Failed(top, "cannot be listed", error.value());
  }
  return entries;
}

class Copier {
 public:
  Copier(fs::path from, std::string label, const TellBytes& tell, CopiedTree* tree)
      : from_(std::move(from)), label_(std::move(label)), tell_(tell), tree_(*tree) {}

  // Everything to `top`; `ours`: that directory is nobody else's.
  absl::Status CopyAll(const std::vector<Entry>& entries, const fs::path& top, bool ours) {
    done_ = 0;
    tree_.found = 0;
    const auto below = [](const fs::path& root, const Entry& entry) {
      return entry.path.empty() ? root : root / entry.path;
    };
    for (const Entry& entry : entries) {
      const fs::path original = below(from_, entry);
      const fs::path copy = below(top, entry);
      RETURN_IF_ERROR(S_ISDIR(entry.mode)   ? MakeDirectory(copy)
                      : S_ISLNK(entry.mode) ? CopyLink(original, copy)
                                            : CopyFile(original, entry, copy));
    }
    // Those that others own keep what they have.
    for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
      const fs::path copy = below(top, *entry);
      if (S_ISDIR(entry->mode) && (ours || !entry->path.empty()) &&
          (chmod(copy.c_str(), entry->mode & kModeBits) != 0 ||
           utimensat(AT_FDCWD, copy.c_str(), entry->times.data(), 0) != 0) &&
          errno != EPERM) {
        return Failed(copy, "cannot be given the original's mode and time", errno);
      }
    }
    return absl::OkStatus();
  }

 private:
  static absl::Status MakeDirectory(const fs::path& copy) {
    struct stat found = {};
    if (mkdir(copy.c_str(), kDirectoryWhileCopied) == 0) {
      return absl::OkStatus();
    }
    const int error = errno;
    if (error != EEXIST || stat(copy.c_str(), &found) != 0 || !S_ISDIR(found.st_mode)) {
      return Failed(copy, "cannot be made a directory", error);
    }
    // One that is interrupted may have been left without the right to write into it.
    return access(copy.c_str(), W_OK | X_OK) == 0 ||
                   chmod(copy.c_str(), (found.st_mode & kModeBits) | kDirectoryWhileCopied) == 0
               ? absl::OkStatus()
               : Failed(copy, "cannot be written", errno);
  }

  absl::Status CopyLink(const fs::path& original, const fs::path& copy) {
    std::error_code error;
    const fs::path target = fs::read_symlink(original, error);
    if (error) {
      return Failed(original, "cannot be read", error.value());
    }
    const fs::path made = MadeAs(copy, label_);
    (void)unlink(made.c_str());
    if (symlink(target.c_str(), made.c_str()) != 0 || rename(made.c_str(), copy.c_str()) != 0) {
      return Failed(copy, "cannot be made a link", errno);
    }
    return absl::OkStatus();
  }

  absl::Status CopyFile(const fs::path& original, const Entry& entry, const fs::path& copy) {
    if (IsThere(entry, copy)) {
      ++tree_.found;
      Add(static_cast<std::uint64_t>(entry.size));
      return absl::OkStatus();
    }
    const fs::path made = MadeAs(copy, label_);
    const UniqueFd in(open(original.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
    struct stat before = {};
    if (!in.valid() || fstat(in.get(), &before) != 0) {
      return Failed(original, "cannot be read", errno);
    }
    (void)unlink(made.c_str());
    UniqueFd out(open(made.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kWhileCopied));
    if (!out.valid()) {
      return Failed(copy, "cannot be written", errno);
    }
    absl::Status status = Fill(in, before, original, out, copy);
    if (status.ok() && close(out.release()) != 0) {
      status = Failed(copy, "cannot be written", errno);
    }
    if (status.ok() && rename(made.c_str(), copy.c_str()) != 0) {
      status = Failed(copy, "cannot be given its name", errno);
    }
    if (!status.ok()) {
      (void)unlink(made.c_str());
    }
    return status;
  }

  absl::Status Fill(const UniqueFd& in, const struct stat& before, const fs::path& original,
                    const UniqueFd& out, const fs::path& copy) {
    RETURN_IF_ERROR(CopyBytes(in, original, out, copy));
    struct stat after = {};
    struct stat written = {};
    const std::array<timespec, 2> times = {before.st_atim, before.st_mtim};
    if (fstat(in.get(), &after) != 0 || fchmod(out.get(), before.st_mode & kModeBits) != 0 ||
        futimens(out.get(), times.data()) != 0 || fstat(out.get(), &written) != 0) {
      return Failed(copy, "cannot be given the original's mode and time", errno);
    }
    return after.st_size == before.st_size && SameTime(after.st_mtim, before.st_mtim) &&
                   written.st_size == before.st_size
               ? absl::OkStatus()
               : absl::AbortedError(
                     absl::StrCat(Quote(original.string()),
                                  ": was changed while it was copied: copy it when it is whole"));
  }

  // Within the kernel where it can do that.
  absl::Status CopyBytes(const UniqueFd& in, const fs::path& original, const UniqueFd& out,
                         const fs::path& copy) {
    for (;;) {
      const ssize_t moved = copy_file_range(in.get(), nullptr, out.get(), nullptr, kPieceBytes, 0);
      if (moved < 0 && errno == EINTR) {
        continue;
      }
      if (moved <= 0) {
        break;  // its end, or not between these two file systems: reading tells
      }
      Add(static_cast<std::uint64_t>(moved));
    }
    std::vector<char> buffer(kBufferBytes);
    for (;;) {
      const ssize_t got = read(in.get(), buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) {
        continue;
      }
      if (got <= 0) {
        return got == 0 ? absl::OkStatus() : Failed(original, "cannot be read", errno);
      }
      for (ssize_t written = 0; written < got;) {
        const ssize_t more =
            write(out.get(), buffer.data() + written, static_cast<std::size_t>(got - written));
        if (more < 0 && errno != EINTR) {
          return Failed(copy, "cannot be written", errno);
        }
        written += std::max<ssize_t>(more, 0);
      }
      Add(static_cast<std::uint64_t>(got));
    }
  }

  void Add(std::uint64_t bytes) {
    done_ += bytes;
    tell_(done_, tree_.bytes);
  }

  const fs::path from_;
  const std::string label_;
  const TellBytes& tell_;
  CopiedTree& tree_;
  std::uint64_t done_ = 0;
};

// Without a "/" at its end, or a "." on the way.
fs::path Plain(const fs::path& path) {
  const fs::path normal = path.lexically_normal();
  return normal.has_filename() || !normal.has_relative_path() ? normal : normal.parent_path();
}

absl::Status CheckApart(const fs::path& from, const fs::path& to) {
  std::error_code unknown;
  const std::string inner = fs::weakly_canonical(to, unknown).string() + "/";
  const std::string outer = fs::weakly_canonical(from, unknown).string() + "/";
  return absl::StartsWith(inner, outer)
             ? absl::FailedPreconditionError(
                   absl::StrCat(Quote(to.string()), ": is ", inner == outer ? "" : "inside of ",
                                "what is to be copied there: name another place"))
             : absl::OkStatus();
}

}  // namespace

absl::StatusOr<SourceState> StateOfTree(const std::string& from) {
  const fs::path source = Plain(from);
  CopiedTree tree;
  ASSIGN_OR_RETURN(std::vector<Entry> entries, ListTree(source, &tree));
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.path < b.path; });
  Fingerprint print;
  for (const Entry& entry : entries) {
    print.Add(entry.path).Add(entry.mode);
    if (S_ISREG(entry.mode)) {
      print.Add(entry.size).Add(entry.times[1].tv_sec).Add(entry.times[1].tv_nsec);
    } else if (S_ISLNK(entry.mode)) {
      std::error_code error;
      print.Add(fs::read_symlink(source / entry.path, error).string());
    }
  }
  return SourceState{print.value(), tree.bytes};
}

absl::StatusOr<CopiedTree> CopyTree(const std::string& from, const std::string& to,
                                    const std::string& label, const TellBytes& tell) {
  const fs::path source = Plain(from);
  const fs::path target = Plain(fs::absolute(to));
  RETURN_IF_ERROR(CheckApart(source, target));
  CopiedTree tree;
  ASSIGN_OR_RETURN(const std::vector<Entry> entries, ListTree(source, &tree));
  std::error_code error;
  fs::create_directories(target.parent_path(), error);
  if (error) {
    return Failed(target.parent_path(), "cannot be made a directory", error.value());
  }
  Copier copier(source, label, tell, &tree);
  const bool directory = S_ISDIR(entries.front().mode);
  if (!directory && fs::is_directory(target, error)) {
    return absl::FailedPreconditionError(
        absl::StrCat(Quote(to), ": is a directory: end it with / to copy a file into it"));
  }
  if (!directory || fs::exists(fs::symlink_status(target, error))) {
    RETURN_IF_ERROR(copier.CopyAll(entries, target, /*ours=*/false));
    return tree;
  }
  // A directory that is new has its name once all of it is there.
  const fs::path made = MadeAs(target, label);
  RETURN_IF_ERROR(copier.CopyAll(entries, made, /*ours=*/true));
  if (rename(made.c_str(), target.c_str()) == 0) {
    return tree;
  }
  if (errno != EEXIST && errno != ENOTEMPTY) {
    return Failed(target, "cannot be given its name", errno);
  }
  // Somebody else made it meanwhile.
  RETURN_IF_ERROR(copier.CopyAll(entries, target, /*ours=*/false));
  fs::remove_all(made, error);
  return tree;
}

}  // namespace muster::cli
