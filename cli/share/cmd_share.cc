#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "cli/controller/controller.h"
#include "cli/frame/output.h"
#include "cli/frame/verbs.h"
#include "cli/share/share_document.h"
#include "cli/share/share_file.h"
#include "cli/share/share_receipt.h"
#include "cli/sheet/share_table.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/core/share/live_shares.h"
#include "scheduler/runtime/file.h"

namespace muster::cli {
namespace {

absl::StatusOr<AccountTree> ReadTree(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path, kShareFileBytesMax);
  if (!text.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat(text.status().message(), ": name a readable file with an account tree"));
  }
  return ParseShareFile(*text, path);
}

// The tree of --from, or of the cluster.
absl::StatusOr<Shares> Read(const Invocation& invocation) {
  if (!invocation.Has("from")) {
    ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
    return connection->Call(
        ListShares{invocation.Has("explain") ? invocation.Value("explain") : ""});
  }
  if (invocation.Has("explain")) {
    return absl::InvalidArgumentError("--explain: a file has no runs; leave out --from");
  }
  Shares shares;
  ASSIGN_OR_RETURN(static_cast<AccountTree&>(shares), ReadTree(invocation.Value("from")));
  shares.algorithm = Shares::kFairTree;
  return shares;
}

absl::StatusOr<int> Share(const Invocation& invocation) {
  const std::string algorithm = invocation.Has("algorithm") ? invocation.Value("algorithm") : "";
  if (!algorithm.empty() && algorithm != Shares::kFairTree && algorithm != Shares::kClassic) {
    return absl::InvalidArgumentError(absl::StrCat("--algorithm: ", Quote(algorithm),
                                                   " is not one: use ", Shares::kFairTree, " or ",
                                                   Shares::kClassic));
  }
  ASSIGN_OR_RETURN(Shares shares, Read(invocation));
  if (!algorithm.empty()) {
    shares.algorithm = algorithm;
  }
  const Style style = StyleFor(invocation.environment, STDOUT_FILENO);
  if (invocation.Has("explain")) {
    const std::string user = invocation.Value("explain");
    ASSIGN_OR_RETURN(const std::string page, invocation.Has("json")
                                                 ? ReceiptsDocument(shares, user)
                                                 : PrintReceipts(shares, user, style));
    RETURN_IF_ERROR(WriteOut(page));
    return 0;
  }
  const bool ranked = shares.Rule().fairshare == FairshareRule::kFairTree;
  const ShareStatuses statuses = core::ShareStatusesOf(shares, shares.Rule());
  RETURN_IF_ERROR(WriteOut(
      invocation.Has("json")
          ? ShareDocument(shares, statuses, shares.algorithm)
          : PrintShares(shares, statuses,
                        {.at = shares.now, .half_life = shares.half_life, .level_fs = ranked},
                        style)));
  return 0;
}

}  // namespace

Verb ShareVerb() {
  Verb verb;
  verb.name = "share";
  verb.purpose = "Show who has which share of the cluster, and how fair share ranks the users";
  verb.examples = {"muster share", "muster share --explain ada", "muster share --from tree.json",
                   "muster share --from tree.json --json",
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
  verb.options = {
      {.name = "from",
       .letter = 0,
       .metavar = "TREE.json",
       .text = "Read the account tree from this file, not from the cluster"},
      {.name = "explain",
       .letter = 0,
       .metavar = "USER",
       .text = "A receipt: what is left of each of the user's runs, and what it costs"},
      {.name = "algorithm",
       .letter = 0,
       .metavar = "NAME",
       .text = "fair-tree or classic (default: as configured, or fair-tree with --from)"},
      JsonOption()};
  verb.run = Share;
  return verb;
}

}  // namespace muster::cli
