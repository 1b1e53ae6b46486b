#include "cli/share/share_document.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "cli/frame/json_output.h"

namespace muster::cli {
namespace {

Json LevelJson(double level_fs) {
  return std::isinf(level_fs) ? Json("inf") : Json(level_fs);
}

// A line of its own: a document of a million users as a tree of values would take gigabytes.
void AppendLine(const Json& object, std::string* page) {
  absl::StrAppend(page, page->ends_with('[') ? "\n    " : ",\n    ",
                  object.dump(-1, ' ', false, Json::error_handler_t::replace));
}

Json UserJson(const Association& user, const ShareStatus& status, bool ranked) {
  return {{"user", user.user},
          {"account", user.account},
          {"norm_shares", status.norm_shares},
          {"norm_usage", status.norm_usage},
          {"level_fs", ranked ? LevelJson(status.level_fs) : Json(nullptr)},
          {"fairshare", status.fairshare},
          {"effectv_usage", status.effectv_usage},
          {"rank", ranked ? Json(status.rank) : Json(nullptr)}};
}

Json AccountJson(const Account& account, const ShareStatus& status, bool ranked) {
  const bool root = account.name == kRootAccount;
  const bool has_level = ranked && !root && account.shares != kParentShares;
  return {{"account", account.name},
          {"parent", root ? Json(nullptr) : Json(account.parent)},
          {"norm_shares", status.norm_shares},
          {"norm_usage", status.norm_usage},
          {"level_fs", has_level ? LevelJson(status.level_fs) : Json(nullptr)},
          {"effectv_usage", status.effectv_usage}};
}

}  // namespace

std::string ShareDocument(const AccountTree& tree, const ShareStatuses& statuses,
                          const std::string& algorithm) {
  const bool ranked = algorithm == "fair-tree";
  std::string page =
      absl::StrCat("{\n  \"algorithm\": ", Json(algorithm).dump(), ",\n  \"users\": [");
  for (std::size_t i = 0; i < tree.associations.size(); ++i) {
    AppendLine(UserJson(tree.associations[i], statuses.associations[i], ranked), &page);
  }
  absl::StrAppend(&page, "\n  ],\n  \"accounts\": [");
  for (std::size_t i = 0; i < tree.accounts.size(); ++i) {
    AppendLine(AccountJson(tree.accounts[i], statuses.accounts[i], ranked), &page);
  }
  absl::StrAppend(&page, "\n  ]\n}\n");
  return page;
}

}  // namespace muster::cli
