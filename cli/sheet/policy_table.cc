#include "cli/sheet/policy_table.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/page/quantity.h"
#include "cli/page/table.h"
#include "cli/page/text.h"
#include "scheduler/model/policy/account_rules.h"

namespace muster::cli {
namespace {

std::string ValueOf(const PolicyView& object, const std::string& key) {
  for (const Assignment& said : object.properties) {
    if (said.key == key) {
      return said.value;
    }
  }
  return "";
}

// "Priority=100 MaxWall=2:00:00", without what has a column of its own.
std::string RulesOf(const PolicyView& object, const std::vector<std::string>& columns) {
  std::vector<std::string> words;
  for (const Assignment& said : object.properties) {
    if (std::find(columns.begin(), columns.end(), said.key) == columns.end()) {
      words.push_back(absl::StrCat(said.key, "=", said.value));
    }
  }
  return OrDash(absl::StrJoin(words, " "));
}

std::string JobsOf(const PolicyView& object) {
  return absl::StrCat(object.jobs_running, "/", object.jobs_submitted);
}

Paint PaintOf(const std::string& state) {
  return state == "UP" || state == "ACTIVE" ? Paint::kGreen
         : state == "INACTIVE"              ? Paint::kYellow
                                            : Paint::kRed;
}

struct AccountLine {
  std::string indented;
  std::string user;
  const PolicyView* object = nullptr;
};

// The account, its users, and the accounts below it.
void AddBranch(const std::map<std::string, std::vector<const PolicyView*>>& below,
               const std::map<std::string, std::vector<const PolicyView*>>& users,
               const PolicyView& account, std::size_t depth, std::vector<AccountLine>& lines) {
  constexpr std::size_t kDepthMax = 65;
  const std::string indent(depth * 2, ' ');
  lines.push_back({indent + account.name, "", &account});
  const auto members = users.find(account.name);
  if (members != users.end()) {
    for (const PolicyView* member : members->second) {
      lines.push_back(
          {indent + "  " + account.name, member->name.substr(member->name.find('/') + 1), member});
    }
  }
  const auto children = below.find(account.name);
  if (children != below.end() && depth < kDepthMax) {
    for (const PolicyView* child : children->second) {
      AddBranch(below, users, *child, depth + 1, lines);
    }
  }
}

std::vector<AccountLine> TreeOf(const std::vector<PolicyView>& objects) {
  std::map<std::string, std::vector<const PolicyView*>> below;
  std::map<std::string, std::vector<const PolicyView*>> users;
  std::map<std::string, bool> there;
  for (const PolicyView& object : objects) {
    there[object.name] = true;
    if (object.kind == "association") {
      users[object.name.substr(0, object.name.find('/'))].push_back(&object);
    } else if (object.name != kRootAccountName) {
      const std::string parent = ValueOf(object, "Parent");
      below[parent.empty() ? kRootAccountName : parent].push_back(&object);
    }
  }
  std::vector<AccountLine> lines;
  for (const PolicyView& object : objects) {
    const std::string parent = ValueOf(object, "Parent");
    const bool top =
        object.kind == "account" && !there.contains(parent.empty() ? kRootAccountName : parent);
    if (object.name == kRootAccountName || top) {
      AddBranch(below, users, object, 0, lines);
    }
  }
  return lines;
}

}  // namespace

std::string PrintPolicy(const std::vector<PolicyView>& objects, bool header, const Style& style) {
  const bool has_state = !objects.empty() && !objects.front().state.empty();
  std::vector<Column> columns = {{.title = "NAME", .right = false, .least = 0}};
  if (has_state) {
    columns.push_back({.title = "STATE", .right = false, .least = 0});
    columns.push_back({.title = "NODES", .right = true, .least = 0});
  }
  columns.push_back({.title = "JOBS", .right = true, .least = 0});
  columns.push_back({.title = "HELD", .right = false, .least = 0});
  columns.push_back({.title = "RULES", .right = false, .least = 12});
  Table table(std::move(columns));
  for (const PolicyView& object : objects) {
    const bool chosen = ValueOf(object, "Default") == "YES";
    std::vector<Cell> cells = {{.text = object.name + (chosen ? "*" : "")}};
    if (has_state) {
      cells.push_back({.text = object.state, .paint = PaintOf(object.state)});
      cells.push_back({.text = absl::StrCat(object.nodes)});
    }
    cells.push_back({.text = JobsOf(object)});
    cells.push_back({.text = OrDash(object.held)});
    cells.push_back({.text = object.implied ? "(implied)" : RulesOf(object, {"State", "Default"})});
    table.Add(cells);
  }
  return table.Print(style, header);
}

std::string PrintAccounts(const std::vector<PolicyView>& objects, bool header, const Style& style) {
  Table table({{.title = "ACCOUNT", .right = false, .least = 0},
               {.title = "USER", .right = false, .least = 0},
               {.title = "SHARES", .right = true, .least = 0},
               {.title = "JOBS", .right = true, .least = 0},
               {.title = "HELD", .right = false, .least = 0},
               {.title = "RULES", .right = false, .least = 12}});
  for (const AccountLine& line : TreeOf(objects)) {
    const std::string shares = ValueOf(*line.object, "Fairshare");
    table.Add({{.text = line.indented},
               {.text = line.user},
               {.text = shares.empty() ? "1" : shares},
               {.text = JobsOf(*line.object)},
               {.text = OrDash(line.object->held)},
               {.text = RulesOf(*line.object, {"Fairshare", "Parent"})}});
  }
  return table.Print(style, header);
}

std::string PrintPolicySheet(const PolicyView& object, const Style&) {
  std::string page = absl::StrCat(object.kind, " ", object.name,
                                  object.implied ? " (implied: none is defined)" : "",
                                  object.configured ? " (from the configuration)" : "", "\n");
  const auto add = [&page](const std::string& key, const std::string& value) {
    if (!value.empty()) {
      absl::StrAppend(&page, "  ", key, "=", Printable(value), "\n");
    }
  };
  add("State", object.state);
  for (const Assignment& said : object.properties) {
    if (said.key != "State") {
      add(said.key, said.value);
    }
  }
  add("Jobs",
      absl::StrCat(object.jobs_running, " running, ", object.jobs_submitted, " submitted in all"));
  add("Held", object.held);
  add("Spent", object.spent.empty() ? "" : absl::StrCat(object.spent, " (minutes)"));
  return page;
}

std::string PrintPolicyHistory(const std::vector<PolicyChangeView>& changes, bool header,
                               const Style& style) {
  Table table({{.title = "TIME", .right = false, .least = 0},
               {.title = "BY", .right = false, .least = 0},
               {.title = "KIND", .right = false, .least = 0},
               {.title = "NAME", .right = false, .least = 0},
               {.title = "CHANGE", .right = false, .least = 12}});
  for (const PolicyChangeView& change : changes) {
    table.Add({{.text = MomentText(change.time, style.zone)},
               {.text = change.user},
               {.text = change.kind},
               {.text = change.name},
               {.text = change.text}});
  }
  return table.Print(style, header);
}

}  // namespace muster::cli
