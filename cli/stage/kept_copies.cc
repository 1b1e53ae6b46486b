#include "cli/stage/kept_copies.h"

#include <unistd.h>

#include <filesystem>
#include <memory>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/controller/controller.h"
#include "cli/frame/json_output.h"
#include "cli/frame/output.h"
#include "cli/images/image_table.h"
#include "cli/images/image_words.h"
#include "cli/parse/request/stage_words.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/clock.h"

namespace muster::cli {
namespace {

absl::Status CheckWords(const Invocation& invocation) {
  int actions = 0;
  for (const char* action : {"list", "remove", "prune"}) {
    actions += invocation.Has(action) ? 1 : 0;
  }
  if (actions > 1) {
    return absl::InvalidArgumentError("--list, --remove, --prune: name one of them");
  }
  for (const char* other : {"after", "fingerprint"}) {
    if (invocation.Has(other)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", other, ": does not go with --list, --remove and --prune"));
    }
  }
  if (!invocation.Has("remove") && !invocation.arguments.empty()) {
    return absl::InvalidArgumentError("--list and --prune take no SRC: see --remove");
  }
  if (invocation.Has("older-than") && !invocation.Has("prune")) {
    return absl::InvalidArgumentError("--older-than: goes with --prune alone");
  }
  return absl::OkStatus();
}

}  // namespace

bool IsAboutKeptCopies(const Invocation& invocation) {
  return invocation.Has("list") || invocation.Has("remove") || invocation.Has("prune");
}

absl::StatusOr<PruneImages> ReadCopiesToRemove(const Invocation& invocation,
                                               const std::string& directory) {
  PruneImages removal;
  removal.data = true;
  removal.user = invocation.Has("user") ? invocation.Value("user") : "";
  ASSIGN_OR_RETURN(removal.nodes, ReadKeepers(invocation));
  ASSIGN_OR_RETURN(removal.unused_for, ReadAge(invocation));
  removal.all = invocation.Has("prune") && removal.unused_for == Duration(0);
  for (const std::string& word : invocation.arguments) {
    std::vector<std::string> source;
    RETURN_IF_ERROR(AddNodeData(word, &source));
    for (const std::string& each : source) {
      removal.images.push_back(WithAbsoluteSource(each, directory));
    }
  }
  if (invocation.Has("remove") && removal.images.empty()) {
    return absl::InvalidArgumentError("--remove: name the SRC of which no copy is to be kept");
  }
  return removal;
}

std::string PrintCopiesJson(const ImageTable& copies) {
  Json list = Json::array();
  for (const NodeImage& copy : copies.images) {
    list.push_back({{"node", copy.node},
                    {"source", copy.name},
                    {"size", ToJson(copy.size)},
                    {"used", ToJson(copy.used)},
                    {"in_use", copy.in_use}});
  }
  return PrintJson(Json{{"copies", list}, {"silent", copies.silent}});
}

absl::StatusOr<int> ListOrRemoveCopies(const Invocation& invocation) {
  RETURN_IF_ERROR(CheckWords(invocation));
  std::error_code unknown;
  ASSIGN_OR_RETURN(const PruneImages removal,
                   ReadCopiesToRemove(invocation, std::filesystem::current_path(unknown).string()));
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  const bool lists = invocation.Has("list");
  const absl::StatusOr<ImageTable> copies =
      lists ? connection->Call(ListImages{removal.nodes, true, removal.user})
            : connection->Call(removal);
  RETURN_IF_ERROR(copies.status());
  if (invocation.Has("json")) {
    RETURN_IF_ERROR(WriteOut(PrintCopiesJson(*copies)));
  } else if (lists) {
    RETURN_IF_ERROR(WriteOut(PrintCopies(*copies, SystemClock().Now(),
                                         StyleFor(invocation.environment, STDOUT_FILENO))));
  } else {
    RETURN_IF_ERROR(WriteOut(PrintPruned(*copies, /*data=*/true)));
  }
  if (invocation.Has("remove") && copies->images.empty() && copies->silent.empty()) {
    return absl::NotFoundError("no node keeps a copy of that: see muster stage --list");
  }
  return copies->silent.empty() ? 0 : 1;
}

}  // namespace muster::cli
