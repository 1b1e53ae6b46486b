#include "cli/up/cluster_options.h"

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/parse/request/constraint.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/model/value/gres.h"

namespace muster::cli {
namespace {

// Synthetic attributes may hold commas.
std::vector<std::string> Split(const std::string& list) {
  std::vector<std::string> pieces(1);
  int depth = 0;
  for (const char c : list) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth == 0) {
      pieces.emplace_back();
    } else {
      pieces.back().push_back(c);
    }
  }
  return pieces;
}

bool Exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

std::string Absolute(const std::string& path) {
  std::error_code error;
  return std::filesystem::absolute(path, error).string();
}

// A file, a synthetic description, or either with a file of links behind a plus.
absl::StatusOr<std::string> ReadTopology(const std::string& text) {
  if (Exists(text)) {
    return Absolute(text);
  }
  const std::size_t plus = text.rfind('+');
  if (plus != std::string::npos && Exists(text.substr(plus + 1))) {
    ASSIGN_OR_RETURN(const std::string machine, ReadTopology(text.substr(0, plus)));
    return absl::StrCat(machine, "+", Absolute(text.substr(plus + 1)));
  }
  if (text.empty() || text.find(':') == std::string::npos) {
    return absl::NotFoundError(
        absl::StrCat("--topology: ", Quote(text),
                     ": no such file: name one or describe it, like pack:2 core:4"));
  }
  return text;
}

absl::Status CheckLists(const std::string& option, const std::vector<std::string>& lists,
                        std::uint32_t nodes) {
  return lists.size() > 1 && lists.size() != nodes
             ? absl::InvalidArgumentError(absl::StrCat(option, " has ", lists.size(), " lists for ",
                                                       Counted(nodes, "node"),
                                                       ": give one for all, or one for each"))
             : absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ReadTopologyList(const std::string& list) {
  std::vector<std::string> topologies;
  for (const std::string& text : Split(list)) {
    ASSIGN_OR_RETURN(std::string topology, ReadTopology(text));
    topologies.push_back(std::move(topology));
  }
  return topologies;
}

absl::StatusOr<std::vector<std::string>> ReadFeatureLists(const std::string& text,
                                                          std::uint32_t nodes) {
  std::vector<std::string> lists = absl::StrSplit(text, ';');
  for (const std::string& list : lists) {
    const absl::StatusOr<std::vector<std::string>> features = ParseFeatures(list);
    if (!features.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--features: ", std::string(features.status().message())));
    }
  }
  RETURN_IF_ERROR(CheckLists("--features", lists, nodes));
  return lists;
}

absl::StatusOr<std::vector<std::string>> ReadGresLists(const std::string& option,
                                                       const std::string& text,
                                                       std::uint32_t nodes) {
  std::vector<std::string> lists = absl::StrSplit(text, ';');
  for (const std::string& list : lists) {
    const absl::StatusOr<GresList> gres = ParseGresList(list);
    if (!gres.ok() || gres->size() > kGresKinds) {
      return absl::InvalidArgumentError(
          absl::StrCat(option, ": ",
                       gres.ok() ? absl::StrCat("a node has at most ", kGresKinds, " kinds")
                                 : std::string(gres.status().message())));
    }
  }
  RETURN_IF_ERROR(CheckLists(option, lists, nodes));
  return lists;
}

}  // namespace muster::cli
