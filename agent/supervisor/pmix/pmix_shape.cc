#include "agent/supervisor/pmix/pmix_shape.h"

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/mac.h"

namespace muster::agent {
namespace {

constexpr std::size_t kNamespaceBytesMax = 255;  // PMIX_MAX_NSLEN
constexpr std::size_t kSegmentCodeBytes = 8;     // a name that nobody has made before

// PMIx writes the nodes' names into lists and ranges.
absl::Status CheckNames(const PmixStepConfig& step) {
  std::set<std::string> seen;
  for (const std::string& name : step.nodes) {
    const bool plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
    });
    if (name.empty() || !plain || !seen.insert(name).second) {
      return absl::InvalidArgumentError(absl::StrCat(
          "PMIx namespace ", step.nspace, ": node '", name,
          "': MPI needs nodes with names of their own, of letters, digits, '.', '_' and '-'"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckRanks(const PmixStepConfig& step) {
  const std::set<std::uint32_t> used(step.node_of_rank.begin(), step.node_of_rank.end());
  if (used.size() != step.nodes.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("PMIx namespace ", step.nspace, ": a node without ranks"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckPmixShape(const PmixStepConfig& step) {
  if (step.nspace.empty() || step.nspace.size() > kNamespaceBytesMax ||
      step.nspace.find('/') != std::string::npos || step.nspace.front() == '.') {
    return absl::InvalidArgumentError(absl::StrCat(
        "PMIx namespace '", step.nspace, "': give 1 to 255 characters, no slash, no leading dot"));
  }
  const auto in_range = [&step](std::uint32_t node) { return node < step.nodes.size(); };
  if (!std::all_of(step.node_of_rank.begin(), step.node_of_rank.end(), in_range)) {
    return absl::InvalidArgumentError(
        absl::StrCat("PMIx namespace ", step.nspace, ": a rank is on a node that is not listed"));
  }
  const auto local = static_cast<std::size_t>(
      std::count(step.node_of_rank.begin(), step.node_of_rank.end(), step.node_index));
  if (local == 0 || local != step.local_cpusets.size()) {
    return absl::InvalidArgumentError(absl::StrCat("PMIx namespace ", step.nspace, ": ", local,
                                                   " ranks on this node but ",
                                                   step.local_cpusets.size(), " cpusets given"));
  }
  RETURN_IF_ERROR(CheckRanks(step));
  return CheckNames(step);
}

std::string NamePmixSegments(const std::string& shared_memory, const std::string& nspace) {
  struct stat found = {};
  const absl::StatusOr<std::string> code = RandomBytes(kSegmentCodeBytes);
  if (shared_memory.empty() || !code.ok() || stat(shared_memory.c_str(), &found) != 0 ||
      !S_ISDIR(found.st_mode) || (found.st_mode & S_IWOTH) == 0) {
    return "";
  }
  return absl::StrCat(shared_memory, "/", nspace.substr(0, nspace.rfind('.')), ".",
                      std::string(absl::BytesToHexString(*code)));
}

std::string MakePmixSegments(const std::string& shared_memory, const std::string& nspace) {
  if (shared_memory.empty()) {
    return "";
  }
  // All users see this name: without the namespace's last part, which is its ranks' secret.
  const std::string shown = nspace.substr(0, nspace.rfind('.'));
  std::string path = absl::StrCat(shared_memory, "/", shown, ".XXXXXX");
  return mkdtemp(path.data()) == nullptr ? "" : path;
}

}  // namespace muster::agent
