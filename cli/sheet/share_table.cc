#include "cli/sheet/share_table.h"

#include <map>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/page/table.h"
#include "scheduler/base/text/words.h"
#include "scheduler/core/share/decay.h"

namespace muster::cli {
namespace {

class ShareTable {
 public:
  ShareTable(const AccountTree& tree, const ShareStatuses& statuses, const ShareTableChoice& choice)
      : tree_(tree), statuses_(statuses), choice_(choice), table_(Columns()) {
    for (std::size_t i = 0; i < tree.accounts.size(); ++i) {
      if (tree.accounts[i].name != kRootAccount) {
        accounts_[tree.accounts[i].parent].push_back(i);
      }
    }
    for (std::size_t i = 0; i < tree.associations.size(); ++i) {
      users_[tree.associations[i].account].push_back(i);
    }
  }

  std::string Print(const Style& style) && {
    Add({kRootAccount, "", ""}, statuses_.root, "", "");
    AddBelow(kRootAccount, 1);
    return table_.Print(style);
  }

 private:
  using Index = std::map<std::string_view, std::vector<std::size_t>>;

  struct Head {
    std::string account;
    std::string user;
    std::string shares;
  };

  static std::vector<Column> Columns() {
    return {{.title = "Account", .right = false, .least = 0},
            {.title = "User", .right = false, .least = 0},
            {.title = "RawShares", .right = true, .least = 0},
            {.title = "NormShares", .right = true, .least = 0},
            {.title = "RawUsage", .right = true, .least = 0},
            {.title = "NormUsage", .right = true, .least = 0},
            {.title = "EffectvUsage", .right = true, .least = 0},
            {.title = "FairShare", .right = true, .least = 0},
            {.title = "LevelFS", .right = true, .least = 0}};
  }

  static std::string SharesText(ShareCount shares) {
    return shares == kParentShares ? "parent" : absl::StrCat(shares.value());
  }

  // Whole billing-seconds, rounded down.
  std::string UsageText(const DecayedUsage& usage) const {
    return absl::StrCat(core::ShownAt(usage, choice_.at, choice_.half_life).value() / 1'000'000);
  }

  std::string LevelText(const ShareStatus& status) const {
    return choice_.level_fs ? FractionText(status.level_fs) : "";
  }

  void Add(const Head& head, const ShareStatus& status, const std::string& fairshare,
           const std::string& level_fs) {
    table_.Add({{.text = head.account},
                {.text = head.user},
                {.text = head.shares},
                {.text = FractionText(status.norm_shares)},
                {.text = UsageText(status.usage)},
                {.text = FractionText(status.norm_usage)},
                {.text = FractionText(status.effectv_usage)},
                {.text = fairshare},
                {.text = level_fs}});
  }

  void AddBelow(const std::string& account, std::size_t depth) {
    const std::string indent(depth, ' ');
    for (const std::size_t i : users_[account]) {
      const Association& user = tree_.associations[i];
      const ShareStatus& status = statuses_.associations[i];
      Add({absl::StrCat(indent, account), user.user, SharesText(user.shares)}, status,
          FractionText(status.fairshare), LevelText(status));
    }
    for (const std::size_t i : accounts_[account]) {
      const Account& below = tree_.accounts[i];
      Add({absl::StrCat(indent, below.name), "", SharesText(below.shares)}, statuses_.accounts[i],
          "", below.shares == kParentShares ? "" : LevelText(statuses_.accounts[i]));
      AddBelow(below.name, depth + 1);
    }
  }

  const AccountTree& tree_;
  const ShareStatuses& statuses_;
  const ShareTableChoice choice_;
  Table table_;
  Index accounts_;  // by parent
  Index users_;     // by account
};

}  // namespace

std::string PrintShares(const AccountTree& tree, const ShareStatuses& statuses,
                        const ShareTableChoice& choice, const Style& style) {
  return ShareTable(tree, statuses, choice).Print(style);
}

}  // namespace muster::cli
