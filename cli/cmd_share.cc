#include "cli/cmd_share.h"

#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "cli/output.h"
#include "cli/parse/number.h"
#include "cli/render/share_table.h"
#include "cli/share_document.h"
#include "cli/share_file.h"
#include "scheduler/base/status.h"
#include "scheduler/core/classic_fairshare.h"
#include "scheduler/core/fair_tree.h"
#include "scheduler/runtime/file.h"

namespace muster {
namespace {

constexpr const char* kFairTree = "fair-tree";
constexpr const char* kClassic = "classic";

absl::StatusOr<AccountTree> ReadTree(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path, kShareFileBytesMax);
  if (!text.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat(text.status().message(), ": name a readable file with an account tree"));
  }
  return ParseShareFile(*text, path);
}

absl::StatusOr<int> Share(const Invocation& invocation) {
  const std::string algorithm =
      invocation.Has("algorithm") ? invocation.Value("algorithm") : kFairTree;
  if (algorithm != kFairTree && algorithm != kClassic) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--algorithm: ", Quote(algorithm), " is not one: use ", kFairTree, " or ", kClassic));
  }
  if (!invocation.Has("from")) {
    return absl::InvalidArgumentError(
        "the shares of a live cluster are not in this version: use --from TREE.json");
  }
  ASSIGN_OR_RETURN(const AccountTree tree, ReadTree(invocation.Value("from")));
  const bool ranked = algorithm == kFairTree;
  const ShareStandings standings = ranked ? FairTree(tree) : ClassicFairshare(tree);
  RETURN_IF_ERROR(
      WriteOut(invocation.Has("json")
                   ? ShareDocument(tree, standings, algorithm)
                   : PrintShares(tree, standings,
                                 {.at = kNoTime, .half_life = Duration(0), .level_fs = ranked},
                                 StyleFor(invocation.environment, STDOUT_FILENO))));
  return 0;
}

}  // namespace

Verb ShareVerb() {
  Verb verb;
  verb.name = "share";
  verb.purpose = "Show who has which share of the cluster, and how fair share ranks the users";
  verb.examples = {"muster share --from tree.json", "muster share --from tree.json --json",
                   "muster share --from tree.json --algorithm classic"};
  verb.remarks =
      "TREE.json: "
      "{\"accounts\":[{\"name\",\"parent\",\"shares\"}],\"users\":[{\"name\",\"account\","
      "\"shares\",\"usage\"}]}.\n"
      "Shares are a whole number or \"parent\"; no parent means root, which need not be listed.\n"
      "Columns are those of sshare -l: with fair-tree NormShares is among siblings and "
      "EffectvUsage\n"
      "is of the parent's usage; NormUsage is always of the whole tree's. With --json users come "
      "in\n"
      "the order of the file, and level_fs is \"inf\" where it has no bound, null with classic.\n";
  verb.options = {{.name = "from",
                   .letter = 0,
                   .metavar = "TREE.json",
                   .text = "Read the account tree from this file"},
                  {.name = "algorithm",
                   .letter = 0,
                   .metavar = "NAME",
                   .text = "fair-tree (the default) or classic"},
                  JsonOption()};
  verb.run = Share;
  return verb;
}

}  // namespace muster
