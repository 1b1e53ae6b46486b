#include "cli/slurm/report/report_page.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/report/usage_tally.h"
#include "cli/slurm/accounts/named_columns.h"
#include "cli/slurm/accounts/policy_rows.h"
#include "cli/slurm/frame/people.h"
#include "scheduler/model/policy/account_rules.h"

namespace muster::cli::slurm {
namespace {

constexpr NamedColumn kUtilizationColumns[] = {
    {"Cluster", 9, ""},
    {"TresName", -14, "TRES Name"},
    {"Allocated", 8, ""},
    {"Down", 8, ""},
    {"PlannedDown", 8, "PLND Down"},
    {"Idle", 8, ""},
    {"Planned", 8, ""},
    {"Reported", 8, ""},
};
constexpr NamedColumn kPeopleColumns[] = {
    {"Cluster", 9, ""},
    {"Account", 15, ""},
    {"Login", 9, ""},
    {"Proper", 15, "Proper Name"},
    {"TresName", -14, "TRES Name"},
    {"Used", 8, ""},
    {"Energy", 8, ""},
};
constexpr std::size_t kRule = 80;

using Rows = std::vector<std::vector<std::string>>;
using Amounts = std::map<std::string, std::uint64_t>;  // seconds, by what is counted

bool Wants(const std::vector<std::string>& list, const std::string& name) {
  return list.empty() || std::find(list.begin(), list.end(), name) != list.end();
}

class Report {
 public:
  Report(const ReportRequest& request, const ReportScene& scene)
      : request_(request), scene_(scene), window_{request.start, request.end} {
    for (const std::string& tres : request.tres) {
      all_[tres] = 0;
      for (const JobView& job : scene.jobs) {
        all_[tres] += UsedSeconds(job, tres, window_);
      }
      offered_[tres] = OfferedSeconds(scene.nodes, tres, window_);
    }
  }

  absl::StatusOr<std::string> Page(const PageStyle& style) {
    if (request_.kind == ReportKind::kJobSizes) {
      return Head(style, "Job Sizes", true) + SizesTable(style);
    }
    const bool cluster = request_.kind == ReportKind::kUtilization;
    const std::span<const NamedColumn> columns =
        cluster ? std::span<const NamedColumn>(kUtilizationColumns) : kPeopleColumns;
    const std::string tres = request_.names_tres ? "TresName," : "";
    const std::string usual =
        cluster ? absl::StrCat("Cluster,", tres, "Allocated,Down,PlannedDown,Idle,Planned,Reported")
        : request_.kind == ReportKind::kAccountsByUser
            ? absl::StrCat("Cluster,Account,Login,Proper,", tres, "Used,Energy")
            : absl::StrCat("Cluster,Login,Proper,Account,", tres, "Used,Energy");
    const absl::StatusOr<std::vector<ColumnChoice>> choice =
        ChooseColumns(columns, request_.format, usual);
    if (!choice.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(" Unknown field '", choice.status().message(), "'"));
    }
    return Head(style, Title(), !cluster) +
           NamedPage(columns, *choice, cluster ? UtilizationRows() : PeopleRows(), style);
  }

 private:
  [[nodiscard]] std::string Title() const {
    switch (request_.kind) {
      case ReportKind::kUtilization:
        return "Cluster Utilization";
      case ReportKind::kAccountsByUser:
        return "Cluster/Account/User Utilization";
      case ReportKind::kUsersByAccount:
        return "Cluster/User/Account Utilization";
      case ReportKind::kTopUsers:
        return absl::StrCat("Top ", request_.top, " Users");
      case ReportKind::kJobSizes:
        break;
    }
    return "Job Sizes";
  }

  [[nodiscard]] std::string Head(const PageStyle& style, const std::string& title,
                                 bool with_length) const {
    if (!style.header) {
      return "";
    }
    const char* const unit = request_.unit == UsageUnit::kSeconds   ? "Seconds"
                             : request_.unit == UsageUnit::kMinutes ? "Minutes"
                                                                    : "Hours";
    const std::string what = request_.names_tres ? "TRES" : "CPU";
    const std::string share = request_.shares ? "Percentage of Total" : "";
    const std::string rule(kRule, '-');
    const std::string usage =
        request_.kind == ReportKind::kJobSizes
            ? absl::StrCat("Time reported in ", unit)
            : absl::StrCat("Usage reported in ",
                           request_.amounts ? absl::StrCat(what, " ", unit) : "",
                           request_.amounts && request_.shares ? "/" : "", share);
    const auto seconds = (request_.end - request_.start).count() / 1000;
    return absl::StrCat(rule, "\n", title, " ", scene_.clock.Text(request_.start, ""), " - ",
                        scene_.clock.Text(request_.end - std::chrono::seconds(1), ""),
                        with_length ? absl::StrCat(" (", seconds, " secs)") : "", "\n", usage, "\n",
                        rule, "\n");
  }

  // Seconds as the request wants them, of a total.
  [[nodiscard]] std::string Text(std::uint64_t seconds, std::uint64_t total) const {
    const std::uint64_t unit = request_.unit == UsageUnit::kSeconds   ? 1
                               : request_.unit == UsageUnit::kMinutes ? 60
                                                                      : 3600;
    const std::string share = total == 0
                                  ? "0.00%"
                                  : absl::StrFormat("%.2f%%", 100.0 * static_cast<double>(seconds) /
                                                                  static_cast<double>(total));
    const std::string amount = request_.amounts ? absl::StrCat(seconds / unit) : "";
    return !request_.shares ? amount
           : amount.empty() ? share
                            : absl::StrCat(amount, "(", share, ")");
  }

  [[nodiscard]] Rows UtilizationRows() const {
    Rows rows;
    for (const std::string& tres : request_.tres) {
      const std::uint64_t offered = offered_.at(tres);
      const std::uint64_t used = all_.at(tres);
      rows.push_back({scene_.cluster, tres, Text(used, offered), "", "",
                      Text(offered - std::min(used, offered), offered), "",
                      Text(offered, offered)});
    }
    return rows;
  }

  void AddRows(const std::string& account, const std::string& user, const Amounts& used,
               Rows& rows) const {
    for (const std::string& tres : request_.tres) {
      const auto found = used.find(tres);
      const std::uint64_t seconds = found == used.end() ? 0 : found->second;
      if (seconds > 0) {
        rows.push_back({scene_.cluster, account, user, user.empty() ? "" : RealName(user), tres,
                        Text(seconds, std::max(offered_.at(tres), std::uint64_t{1})), ""});
      }
    }
  }

  // What each user used in each account.
  [[nodiscard]] std::map<std::pair<std::string, std::string>, Amounts> Tally() const {
    std::map<std::pair<std::string, std::string>, Amounts> used;
    for (const JobView& job : scene_.jobs) {
      if (!Wants(request_.accounts, job.account) || !Wants(request_.users, job.user)) {
        continue;
      }
      for (const std::string& tres : request_.tres) {
        used[{job.account, job.user}][tres] += UsedSeconds(job, tres, window_);
      }
    }
    return used;
  }

  [[nodiscard]] Rows PeopleRows() const {
    const auto used = Tally();
    return request_.kind == ReportKind::kAccountsByUser   ? RowsByAccount(used)
           : request_.kind == ReportKind::kUsersByAccount ? RowsByUser(used)
                                                          : TopRows(used);
  }

  using Used = std::map<std::pair<std::string, std::string>, Amounts>;

  // What was used in each account and below it.
  [[nodiscard]] std::map<std::string, Amounts> WholeOf(const Used& used) const {
    std::map<std::string, Amounts> whole;
    for (const auto& [who, amounts] : used) {
      std::set<std::string> seen;
      for (std::string account = who.first.empty() ? kRootAccountName : who.first;
           !account.empty() && seen.insert(account).second; account = ParentOf(account)) {
        for (const auto& [tres, seconds] : amounts) {
          whole[account][tres] += seconds;
        }
      }
    }
    return whole;
  }

  // The accounts, what is below them included, each before its users.
  [[nodiscard]] Rows RowsByAccount(const Used& used) const {
    std::map<std::string, Amounts> whole = WholeOf(used);
    Rows rows;
    const auto add = [&](const std::string& account) {
      AddRows(account, "", whole[account], rows);
      for (const auto& [who, amounts] : used) {
        if ((who.first.empty() ? kRootAccountName : who.first) == account) {
          AddRows(account, who.second, amounts, rows);
        }
      }
    };
    add(kRootAccountName);
    std::set<std::string> names;
    for (const auto& [account, amounts] : whole) {
      names.insert(account);
    }
    for (const std::string& account : names) {
      if (account != kRootAccountName) {
        add(account);
      }
    }
    return rows;
  }

  [[nodiscard]] std::string ParentOf(const std::string& account) const {
    if (account == kRootAccountName) {
      return "";
    }
    for (const PolicyView& object : scene_.accounts) {
      if (object.kind == "account" && object.name == account) {
        const std::string& parent = PolicyProperty(object, "Parent");
        return parent.empty() ? kRootAccountName : parent;
      }
    }
    return kRootAccountName;
  }

  [[nodiscard]] Rows RowsByUser(const Used& used) const {
    std::map<std::pair<std::string, std::string>, const Amounts*> sorted;
    for (const auto& [who, amounts] : used) {
      sorted[{who.second, who.first}] = &amounts;
    }
    Rows rows;
    for (const auto& [who, amounts] : sorted) {
      AddRows(who.second, who.first, *amounts, rows);
    }
    return rows;
  }

  [[nodiscard]] Rows TopRows(const Used& used) const {
    struct User {
      std::string name;
      std::set<std::string> accounts;
      Amounts used;
    };
    std::map<std::string, User> users;
    for (const auto& [who, amounts] : used) {
      User& user = users[who.second];
      user.name = who.second;
      if (!who.first.empty()) {
        user.accounts.insert(who.first);
      }
      for (const auto& [tres, seconds] : amounts) {
        user.used[tres] += seconds;
      }
    }
    std::vector<User> sorted;
    sorted.reserve(users.size());
    for (const auto& [name, user] : users) {
      sorted.push_back(user);
    }
    const std::string& first = request_.tres.front();
    std::stable_sort(sorted.begin(), sorted.end(), [&first](const User& a, const User& b) {
      return a.used.at(first) > b.used.at(first);
    });
    sorted.resize(std::min(sorted.size(), request_.top));
    Rows rows;
    for (const User& user : sorted) {
      AddRows(absl::StrJoin(user.accounts, ","), user.name, user.used, rows);
    }
    return rows;
  }

  [[nodiscard]] std::string SizesTable(const PageStyle& style) const {
    std::vector<PageColumn> columns = {{"Cluster", 9}, {"Account", 9}};
    std::uint64_t least = 0;
    for (const std::uint64_t bound : request_.grouping) {
      columns.push_back({absl::StrCat(least, "-", bound - 1, " CPUs"), 13});
      least = bound;
    }
    columns.push_back({absl::StrCat(">= ", least, " CPUs"), 13});
    columns.push_back({"% of cluster", 12});
    std::map<std::string, std::vector<std::uint64_t>> accounts;
    std::uint64_t total = 0;
    for (const JobView& job : scene_.jobs) {
      const std::uint64_t seconds = UsedSeconds(job, "cpu", window_);
      total += seconds;
      if (seconds == 0 || !Wants(request_.accounts, job.account) ||
          !Wants(request_.users, job.user)) {
        continue;
      }
      std::vector<std::uint64_t>& sizes =
          accounts[job.account.empty() ? kRootAccountName : job.account];
      sizes.resize(request_.grouping.size() + 1);
      const auto above =
          std::upper_bound(request_.grouping.begin(), request_.grouping.end(), job.cpus);
      sizes[static_cast<std::size_t>(above - request_.grouping.begin())] += seconds;
    }
    std::string page = PageHead(columns, style);
    const std::uint64_t unit = request_.unit == UsageUnit::kSeconds   ? 1
                               : request_.unit == UsageUnit::kMinutes ? 60
                                                                      : 3600;
    for (const auto& [account, sizes] : accounts) {
      std::vector<std::string> values = {scene_.cluster, account};
      std::uint64_t sum = 0;
      for (const std::uint64_t seconds : sizes) {
        values.push_back(absl::StrCat(seconds / unit));
        sum += seconds;
      }
      values.push_back(
          absl::StrFormat("%.2f%%", 100.0 * static_cast<double>(sum) / static_cast<double>(total)));
      page += PageLine(columns, values, style);
    }
    return page;
  }

  const ReportRequest& request_;
  const ReportScene& scene_;
  const UsageWindow window_;
  Amounts all_;
  Amounts offered_;
};

}  // namespace

absl::StatusOr<std::string> ReportPage(const ReportRequest& request, const ReportScene& scene,
                                       const PageStyle& style) {
  return Report(request, scene).Page(style);
}

}  // namespace muster::cli::slurm
