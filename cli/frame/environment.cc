#include "cli/frame/environment.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/utf8.h"

namespace muster::cli {
namespace {

std::string_view NameOf(std::string_view entry) {
  return entry.substr(0, entry.find('='));
}

// Whether the entry is of the variable. Where it is not, one byte mostly says so.
bool IsOf(std::string_view entry, std::string_view name) {
  return (entry.size() == name.size() ||
          (entry.size() > name.size() && entry[name.size()] == '=')) &&
         entry.substr(0, name.size()) == name;
}

bool IsCarriable(std::string_view entry) {
  const std::size_t equals = entry.find('=');
  return equals != std::string_view::npos && equals > 0 && IsUtf8(entry);
}

// True for what a job's own environment sets, which a new job gets from its own.
bool IsGivenByJob(std::string_view name) {
  constexpr std::array<std::string_view, 7> kPrefixes = {"MUSTER_",
                                                         "SLURM_",
                                                         "PMIX_",
                                                         "PMI_",
                                                         "HYDRA_BINDING",
                                                         "HYDRA_HOST_FILE",
                                                         "I_MPI_HYDRA_HOST_FILE"};
  if (name == "MUSTER_KEYS" || name == "MUSTER_MUNGE_SOCKET") {
    return false;  // the user's own: how commands know the controller
  }
  return std::any_of(kPrefixes.begin(), kPrefixes.end(), [name](std::string_view prefix) {
    return name.substr(0, prefix.size()) == prefix;
  });
}

// Of entries with one name the last counts, as a shell has it.
void DropOverridden(std::vector<std::string>& entries) {
  std::set<std::string_view> seen;
  std::vector<std::string> kept;
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    if (seen.insert(NameOf(*entry)).second) {
      kept.push_back(*entry);
    }
  }
  entries.assign(kept.rbegin(), kept.rend());
}

}  // namespace

Environment Environment::Copy(const char* const* entries) {
  std::vector<std::string> copy;
  for (; *entries != nullptr; ++entries) {
    copy.emplace_back(*entries);
  }
  return Environment(std::move(copy));
}

std::string Environment::Get(std::string_view name) const {
  for (const std::string& entry : entries_) {
    if (entry.size() > name.size() && IsOf(entry, name)) {
      return entry.substr(name.size() + 1);
    }
  }
  return "";
}

bool Environment::Has(std::string_view name) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [name](const std::string& entry) { return IsOf(entry, name); });
}

absl::StatusOr<std::vector<std::string>> SelectEnvironment(const Environment& environment,
                                                           const ExportList& list, bool new_job) {
  constexpr std::string_view kSlurms = "SLURM_";  // Slurm's NONE and lists carry them, too
  const bool inside = environment.Has("MUSTER_JOB_ID");
  std::vector<std::string> chosen;
  for (const std::string& entry : environment.entries()) {
    const std::string_view name = NameOf(entry);
    const bool named = std::find(list.names.begin(), list.names.end(), name) != list.names.end();
    const bool left_behind = new_job && inside && IsGivenByJob(name);
    const bool assigned =
        std::any_of(list.assignments.begin(), list.assignments.end(),
                    [name](const std::string& assignment) { return NameOf(assignment) == name; });
    const bool of_slurm = !list.nil && name.substr(0, kSlurms.size()) == kSlurms;
    const bool wanted = named || ((list.all || of_slurm) && !left_behind);
    if (IsCarriable(entry) && !assigned && wanted) {
      chosen.push_back(entry);
    }
  }
  chosen.insert(chosen.end(), list.assignments.begin(), list.assignments.end());
  DropOverridden(chosen);
  std::size_t bytes = 0;
  for (const std::string& entry : chosen) {
    bytes += entry.size() + 1;
  }
  if (bytes > kEnvironmentBytesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("--export: the environment has ", bytes, " bytes, more than ",
                     kEnvironmentBytesMax, ": use --export=NONE or name what the job needs"));
  }
  return chosen;
}

}  // namespace muster::cli
