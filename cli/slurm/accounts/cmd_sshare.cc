#include "cli/slurm/accounts/cmd_sshare.h"

#include <unistd.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "cli/slurm/accounts/named_columns.h"
#include "cli/slurm/frame/cluster.h"
#include "cli/slurm/frame/errors.h"
#include "cli/slurm/frame/people.h"
#include "cli/slurm/frame/words.h"
#include "scheduler/base/contains.h"
#include "scheduler/base/text/words.h"
#include "scheduler/core/share/decay.h"
#include "scheduler/core/share/live_shares.h"

namespace muster::cli::slurm {
namespace {

constexpr const char* kUsualShares =
    "Account,User,RawShares,NormShares,RawUsage,EffectvUsage,FairShare";
constexpr const char* kLongShares =
    "Account,User,RawShares,NormShares,RawUsage,NormUsage,EffectvUsage,FairShare,LevelFS";

constexpr NamedColumn kShareColumns[] = {
    {"Account", -20, ""},   {"Cluster", 10, ""},     {"EffectvUsage", 13, ""},
    {"FairShare", 10, ""},  {"GrpTRESMins", 30, ""}, {"LevelFS", 10, ""},
    {"NormShares", 11, ""}, {"NormUsage", 11, ""},   {"Partition", 12, ""},
    {"RawShares", 10, ""},  {"RawUsage", 11, ""},    {"TRESRunMins", 30, ""},
    {"User", 10, ""},
};

constexpr Row kShareRows[] = {
    {"accounts", 'A', Takes::kValue},
    {"all", 'a'},
    {"clusters", 'M', Takes::kValue},
    {"cluster", 'M', Takes::kValue},
    {"format", 'o', Takes::kValue},
    {"helpformat", 'e'},
    {"long", 'l'},
    {"noheader", 'n'},
    {"parsable", 'p'},
    {"parsable2", 'P'},
    {"partition", 'm'},
    {"users", 'u', Takes::kValue},
    {"user", 'u', Takes::kValue},
    {"Users", 'U'},
    {"verbose", 'v'},
};

// Whom the page shows.
struct ShareChoice {
  std::vector<std::string> accounts;  // empty: all
  std::vector<std::string> users;     // empty: none, or all
  bool all_users = false;
  bool users_only = false;
};

std::string SharesText(ShareCount shares) {
  return shares == kParentShares ? "parent" : absl::StrCat(shares.value());
}

class ShareRows {
 public:
  ShareRows(const Shares& shares, const ShareChoice& choice)
      : shares_(shares), statuses_(core::ShareStatusesOf(shares, shares.Rule())), choice_(choice) {}

  std::vector<std::vector<std::string>> Make() {
    if (!choice_.users_only && choice_.accounts.empty()) {
      Add(kRootAccount, "", "", statuses_.root, true);
    }
    AddBelow(kRootAccount, 1);
    return std::move(rows_);
  }

 private:
  void Add(const std::string& account, const std::string& user, const std::string& raw,
           const ShareStatus& status, bool whole) {
    const bool ranked = shares_.Rule().fairshare == FairshareRule::kFairTree;
    const std::uint64_t usage =
        core::ShownAt(status.usage, shares_.now, shares_.half_life).value() / 1'000'000;
    rows_.push_back({account, "", FractionText(status.effectv_usage),
                     whole ? "" : FractionText(status.fairshare), "",
                     ranked && !raw.empty() ? FractionText(status.level_fs) : "",
                     FractionText(status.norm_shares), FractionText(status.norm_usage), "", raw,
                     absl::StrCat(usage), "", user});
  }

  void AddBelow(const std::string& account, std::size_t depth) {
    const std::string indent(depth, ' ');
    const AccountTree& tree = shares_;
    for (std::size_t i = 0; i < tree.associations.size(); ++i) {
      const Association& user = tree.associations[i];
      const bool named = Contains(choice_.users, user.user) || choice_.all_users;
      if (user.account == account && named && Shows(account)) {
        Add(indent + account, user.user, SharesText(user.shares), statuses_.associations[i], false);
      }
    }
    for (std::size_t i = 0; i < tree.accounts.size(); ++i) {
      const Account& below = tree.accounts[i];
      if (below.name == kRootAccount || below.parent != account) {
        continue;
      }
      if (!choice_.users_only && Shows(below.name)) {
        Add(indent + below.name, "", SharesText(below.shares), statuses_.accounts[i], true);
      }
      AddBelow(below.name, depth + 1);
    }
  }

  bool Shows(const std::string& account) const { return Admits(choice_.accounts, account); }

  const Shares& shares_;
  const ShareStatuses statuses_;
  const ShareChoice& choice_;
  std::vector<std::vector<std::string>> rows_;
};

ShareChoice ReadShareChoice(const Words& words) {
  ShareChoice choice;
  choice.accounts = SplitCommas(words.Value("accounts"));
  choice.users = SplitCommas(words.Value("users"));
  choice.all_users = words.Has("all");
  choice.users_only = words.Has("Users");
  if (choice.users.empty()) {
    choice.users.push_back(UserName(getuid()));
  }
  return choice;
}

}  // namespace

int RunSshare(const Call& call) {
  int code = 0;
  const std::optional<Words> words = ReadCommand(call, kShareRows, Operands::kAnywhere, &code);
  if (!words.has_value()) {
    return code;
  }
  const absl::StatusOr<std::vector<ColumnChoice>> columns = ChooseColumns(
      kShareColumns, words->Value("format"), words->Has("long") ? kLongShares : kUsualShares);
  if (!columns.ok()) {
    return Fail(call,
                absl::StrCat("Invalid field requested: \"", columns.status().message(), "\""));
  }
  if (words->Has("helpformat")) {
    for (const NamedColumn& column : kShareColumns) {
      call.out << column.name << "\n";
    }
    return 0;
  }
  const absl::StatusOr<std::unique_ptr<Connection>> connection = OpenCluster(call);
  const absl::StatusOr<Shares> shares = connection.ok()
                                            ? (*connection)->Call(ListShares{""})
                                            : absl::StatusOr<Shares>(connection.status());
  if (!shares.ok()) {
    return Fail(call, SlurmText(shares.status()));
  }
  const ShareChoice choice = ReadShareChoice(*words);
  const bool parsable = words->Has("parsable") || words->Has("parsable2");
  call.out << NamedPage(kShareColumns, *columns, ShareRows(*shares, choice).Make(),
                        {.header = !words->Has("noheader"),
                         .parsable = parsable,
                         .ends_with_delimiter = words->Has("parsable")})
           << std::flush;
  return 0;
}

}  // namespace muster::cli::slurm
