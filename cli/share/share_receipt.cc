#include "cli/share/share_receipt.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/frame/json_output.h"
#include "cli/page/quantity.h"
#include "cli/page/table.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/core/share/decay.h"
#include "scheduler/core/share/live_shares.h"

namespace muster::cli {
namespace {

// What a user has in one account, and what it costs.
struct Receipt {
  std::string account;
  UsageReceipt usage;
  std::vector<ChargedRun> runs;
  ShareStatus status;
  std::uint32_t rank_without = 0;  // if it had used nothing
  std::size_t ranks = 0;
};

// Millionths as a decimal number, without zeros at the end.
std::string Decimal(std::uint64_t millionths) {
  std::string text = absl::StrFormat("%d.%06d", millionths / 1'000'000, millionths % 1'000'000);
  text.erase(text.find_last_not_of('0') + 1);
  return text.ends_with('.') ? text.substr(0, text.size() - 1) : text;
}

Receipt ReceiptOf(const Shares& shares, std::size_t position, const ShareStatuses& statuses) {
  const Association& association = shares.associations[position];
  Receipt receipt;
  receipt.account = association.account;
  // The controller writes no account for those directly under root.
  for (const std::string& name : {association.account, std::string()}) {
    if (!name.empty() || association.account == kRootAccount) {
      const std::vector<ChargedRun> runs = shares.RunsIn(name);
      receipt.runs.insert(receipt.runs.end(), runs.begin(), runs.end());
    }
  }
  receipt.usage = core::MakeReceipt(association.usage, receipt.runs, shares.now, shares.half_life);
  receipt.status = statuses.associations[position];
  const AccountTree& tree = shares;
  AccountTree without = tree;
  without.associations[position].usage = DecayedUsage();
  receipt.rank_without = core::ShareStatusesOf(without, shares.Rule()).associations[position].rank;
  receipt.ranks = shares.associations.size();
  return receipt;
}

absl::StatusOr<std::vector<Receipt>> ReceiptsOf(const Shares& shares, const std::string& user) {
  const ShareStatuses statuses = core::ShareStatusesOf(shares, shares.Rule());
  std::vector<Receipt> receipts;
  for (std::size_t i = 0; i < shares.associations.size(); ++i) {
    if (shares.associations[i].user == user) {
      receipts.push_back(ReceiptOf(shares, i, statuses));
    }
  }
  if (receipts.empty()) {
    return absl::NotFoundError(
        absl::StrCat("user ", user, ": has no share and has used nothing here; see muster share"));
  }
  return receipts;
}

std::string CostLine(const Receipt& receipt, bool ranked) {
  const std::string fairshare = absl::StrFormat("%.6f", receipt.status.fairshare);
  if (!ranked) {
    return absl::StrCat("  fairshare ", fairshare, "\n");
  }
  const std::uint32_t lost = receipt.rank_without - receipt.status.rank;
  return absl::StrCat("  fairshare ", fairshare, ": rank ", receipt.status.rank, " of ",
                      receipt.ranks,
                      receipt.rank_without > receipt.status.rank
                          ? absl::StrCat("; without this usage ", receipt.rank_without,
                                         ", it costs ", lost, lost == 1 ? " rank" : " ranks")
                          : "; this usage costs no rank",
                      "\n");
}

std::string Print(const Receipt& receipt, bool ranked, const Style& style) {
  Table table({{.title = "JOB", .right = true, .least = 0},
               {.title = "STARTED", .right = false, .least = 0},
               {.title = "RAN", .right = true, .least = 0},
               {.title = "RATE", .right = true, .least = 0},
               {.title = "LEFT", .right = true, .least = 0}});
  for (std::size_t i = 0; i < receipt.runs.size(); ++i) {
    const ChargedRun& run = receipt.runs[i];
    table.Add({{.text = ToString(run.job)},
               {.text = MomentText(run.from, style.zone)},
               {.text = PreciseText(run.until - run.from)},
               {.text = Decimal(run.rate.value())},
               {.text = Decimal(receipt.usage.lines[i].part.value())}});
  }
  if (!receipt.usage.earlier.zero() || receipt.runs.empty()) {
    table.Add({{.text = "earlier"}, {}, {}, {}, {.text = Decimal(receipt.usage.earlier.value())}});
  }
  table.Add({{.text = "total"}, {}, {}, {}, {.text = Decimal(receipt.usage.total.value())}});
  return absl::StrCat("account ", receipt.account, ", in billing-seconds that are left by now\n",
                      table.Print(style), CostLine(receipt, ranked));
}

Json RunJson(const ChargedRun& run, const ReceiptLine& line) {
  return {{"job", run.job.value()},
          {"rate", Decimal(run.rate.value())},
          {"from", ToJson(run.from)},
          {"until", ToJson(run.until)},
          {"part", Decimal(line.part.value())}};
}

bool IsRanked(const Shares& shares) {
  return shares.Rule().fairshare == FairshareRule::kFairTree;
}

}  // namespace

absl::StatusOr<std::string> PrintReceipts(const Shares& shares, const std::string& user,
                                          const Style& style) {
  ASSIGN_OR_RETURN(const std::vector<Receipt> receipts, ReceiptsOf(shares, user));
  std::string page;
  for (const Receipt& receipt : receipts) {
    absl::StrAppend(&page, page.empty() ? "" : "\n", Print(receipt, IsRanked(shares), style));
  }
  return page;
}

absl::StatusOr<std::string> ReceiptsDocument(const Shares& shares, const std::string& user) {
  ASSIGN_OR_RETURN(const std::vector<Receipt> receipts, ReceiptsOf(shares, user));
  Json list = Json::array();
  for (const Receipt& receipt : receipts) {
    Json runs = Json::array();
    for (std::size_t i = 0; i < receipt.runs.size(); ++i) {
      runs.push_back(RunJson(receipt.runs[i], receipt.usage.lines[i]));
    }
    const bool ranked = IsRanked(shares);
    list.push_back({{"account", receipt.account},
                    {"total", Decimal(receipt.usage.total.value())},
                    {"earlier", Decimal(receipt.usage.earlier.value())},
                    {"fairshare", receipt.status.fairshare},
                    {"rank", ranked ? Json(receipt.status.rank) : Json(nullptr)},
                    {"rank_without", ranked ? Json(receipt.rank_without) : Json(nullptr)},
                    {"ranks", receipt.ranks},
                    {"runs", std::move(runs)}});
  }
  return PrintJson(Json{{"user", user}, {"receipts", std::move(list)}});
}

}  // namespace muster::cli
