#include "cli/slurm/links/command_links.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster::cli::slurm {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNames[] = {"sbatch",  "srun",     "salloc",  "scancel",  "squeue", "sacct",
                                  "sinfo",   "scontrol", "sstat",   "sacctmgr", "sshare", "sprio",
                                  "sreport", "sdiag",    "sattach", "sbcast"};

absl::Status CannotMake(const fs::path& path, const std::error_code& error) {
  return absl::FailedPreconditionError(
      absl::StrCat(path.string(), ": ", error.message(), ": name another directory"));
}

// Whether a link may take this place: there is nothing, or a link to a program of that name.
bool IsFree(const fs::path& path, const fs::path& program) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  return status.type() == fs::file_type::not_found ||
         (status.type() == fs::file_type::symlink &&
          fs::read_symlink(path, error).filename() == program.filename());
}

absl::Status Link(const fs::path& program, const fs::path& path) {
  if (!IsFree(path, program)) {
    return absl::AlreadyExistsError(absl::StrCat(
        path.string(), ": is there and is not ours: move it, or name another directory"));
  }
  const fs::path temporary =
      path.parent_path() / absl::StrCat(".", path.filename().string(), ".new");
  std::error_code error;
  fs::remove(temporary, error);
  fs::create_symlink(program, temporary, error);
  if (!error) {
    fs::rename(temporary, path, error);
  }
  return error ? CannotMake(path, error) : absl::OkStatus();
}

}  // namespace

std::span<const char* const> CommandNames() {
  return kNames;
}

absl::Status LinkCommands(const std::string& program, const std::string& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) {
    return CannotMake(directory, error);
  }
  for (const char* const name : kNames) {
    RETURN_IF_ERROR(Link(program, fs::path(directory) / name));
  }
  return absl::OkStatus();
}

}  // namespace muster::cli::slurm
