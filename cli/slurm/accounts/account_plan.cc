#include "cli/slurm/accounts/account_plan.h"

#include <algorithm>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/slurm/accounts/policy_rows.h"
#include "cli/slurm/frame/words.h"
#include "scheduler/base/contains.h"
#include "scheduler/model/policy/policy_text.h"

namespace muster::cli::slurm {
namespace {

constexpr const char* kNoAccount = "        Contact your admin to add this account.";

// Settings as the policy keeps them, in its order: "1-0" is "1-00:00:00".
std::vector<Assignment> AsKept(PolicyKind kind, const std::vector<Assignment>& settings) {
  PolicyObject object = MakePolicyObject(kind, "name");
  for (const Assignment& setting : settings) {
    Assign(object, setting).IgnoreError();  // the controller says what is wrong with it
  }
  return Describe(object);
}

// "  MaxJobs       = 3".
std::string SettingLines(const std::vector<Assignment>& settings, int width) {
  std::string lines;
  for (const Assignment& setting : settings) {
    absl::StrAppend(&lines, absl::StrFormat("  %-*s = %s\n", width, setting.key, setting.value));
  }
  return lines;
}

// Whether users take it from their account where they have none of their own.
bool IsInherited(const std::string& key) {
  return absl::StartsWith(key, "Max") || key == "QOS" || key == "DefaultQOS";
}

// The accounts, associations and QOS that there are.
class Objects {
 public:
  explicit Objects(const std::vector<PolicyView>& all) : all_(all) {}

  [[nodiscard]] const std::vector<PolicyView>& all() const { return all_; }

  // Null when there is none.
  [[nodiscard]] const PolicyView* Find(const char* kind, const std::string& name) const {
    const auto found = std::find_if(all_.begin(), all_.end(), [&](const PolicyView& object) {
      return object.kind == kind && object.name == name;
    });
    return found == all_.end() ? nullptr : &*found;
  }

  [[nodiscard]] bool HasAccount(const std::string& name) const {
    return name == kRootAccountName || Find("account", name) != nullptr;
  }

  // Of those users and accounts; an empty list means all.
  [[nodiscard]] std::vector<const PolicyView*> Associations(
      const std::vector<std::string>& users, const std::vector<std::string>& accounts) const {
    std::vector<const PolicyView*> chosen;
    for (const PolicyView& object : all_) {
      const AssociationParts parts = PartsOf(object);
      if (object.kind == "association" && Admits(users, parts.user) &&
          Admits(accounts, parts.account)) {
        chosen.push_back(&object);
      }
    }
    return chosen;
  }

  // The association by which the user is charged without naming an account; null: none is marked.
  [[nodiscard]] const PolicyView* DefaultOf(const std::string& user) const {
    for (const PolicyView* own : Associations({user}, {})) {
      if (PolicyProperty(*own, "DefaultAccount") == "YES") {
        return own;
      }
    }
    return nullptr;
  }

  // The names of all QOS, or of those that users of the account may use; "" there: all.
  [[nodiscard]] std::string AllQos() const {
    std::vector<std::string> names;
    for (const PolicyView& object : all_) {
      if (object.kind == "qos") {
        names.push_back(object.name);
      }
    }
    return absl::StrJoin(names, ",");
  }
  [[nodiscard]] std::string QosOf(std::string account) const {
    for (std::size_t level = 0; level <= all_.size(); ++level) {
      const PolicyView* const object = Find("account", account);
      if (object != nullptr && !PolicyProperty(*object, "QOS").empty()) {
        return PolicyProperty(*object, "QOS");
      }
      if (object == nullptr || account == kRootAccountName) {
        return "";
      }
      account = ParentOf(*object);
    }
    return "";
  }

  [[nodiscard]] static std::string ParentOf(const PolicyView& account) {
    const std::string& parent = PolicyProperty(account, "Parent");
    return parent.empty() ? kRootAccountName : parent;
  }

 private:
  const std::vector<PolicyView>& all_;
};

std::string AssociationLine(const std::string& cluster, const std::string& account,
                            const std::string& user) {
  return absl::StrFormat("  C = %-10s A = %-20s U = %-9s\n", cluster, account, user);
}

class Planner {
 public:
  Planner(const ManagerRequest& request, const std::vector<PolicyView>& objects,
          const std::string& cluster)
      : request_(request), objects_(objects), cluster_(cluster) {}

  ManagerPlan Make() {
    for (const std::string& name : request_.clusters) {
      if (name != cluster_) {
        plan_.problem = absl::StrCat(" This cluster '", name, "' doesn't exist.\n",
                                     "        Contact your admin to add it to accounting.");
        return std::move(plan_);
      }
    }
    switch (request_.verb) {
      case ManagerVerb::kAdd:
        Add();
        break;
      case ManagerVerb::kModify:
        Modify();
        break;
      case ManagerVerb::kDelete:
        Delete();
        break;
    }
    return std::move(plan_);
  }

 private:
  void Do(PolicyVerb verb, PolicyKind kind, const std::string& name,
          std::vector<Assignment> assignments) {
    plan_.steps.push_back({verb, kind, name, std::move(assignments)});
  }

  // What is implied is there without being kept: its first setting adds it.
  void Set(PolicyKind kind, const std::string& name, std::vector<Assignment> assignments) {
    const PolicyView* const there = objects_.Find(Name(kind), name);
    if (!assignments.empty()) {
      Do(there == nullptr || there->implied ? PolicyVerb::kAdd : PolicyVerb::kSet, kind, name,
         std::move(assignments));
    }
  }

  void Nothing(const char* what) {
    if (plan_.text.empty() && plan_.problem.empty()) {
      plan_.problem = absl::StrCat(" Nothing ", what);
    }
  }

  void Add() {
    switch (request_.kind) {
      case ManagedKind::kAccount:
        AddAccounts();
        break;
      case ManagedKind::kUser:
        AddUsers();
        break;
      case ManagedKind::kQos:
        AddQos();
        break;
    }
    Nothing("new added.");
  }

  void AddAccounts() {
    std::vector<std::string> added;
    std::vector<Assignment> described;
    std::vector<Assignment> limits;
    for (const Assignment& setting : AsKept(PolicyKind::kAccount, request_.settings)) {
      (setting.key == "Description" ? described : limits).push_back(setting);
      if (setting.key == "Parent" && !objects_.HasAccount(setting.value) &&
          !Contains(request_.names, setting.value)) {
        plan_.problem = absl::StrCat(" Parent account '", setting.value,
                                     "' doesn't exist on cluster ", cluster_, "\n", kNoAccount);
        return;
      }
    }
    for (const std::string& name : request_.names) {
      if (objects_.Find("account", name) == nullptr) {
        added.push_back(name);
        Do(PolicyVerb::kAdd, PolicyKind::kAccount, name, request_.settings);
      }
    }
    if (added.empty()) {
      return;
    }
    plan_.text = absl::StrCat(" Adding Account(s)\n  ", absl::StrJoin(added, "\n  "), "\n",
                              described.empty() ? "" : " Settings\n", SettingLines(described, 15),
                              " Associations\n");
    for (const std::string& name : added) {
      absl::StrAppend(&plan_.text, absl::StrFormat("  A = %-10s C = %-10s\n", name, cluster_));
    }
    absl::StrAppend(&plan_.text, limits.empty() ? "" : " Settings\n", SettingLines(limits, 13));
  }

  // Takes the mark from the user's default, unless it is that of `account`.
  void DropDefault(const std::string& user, const std::string& account) {
    const PolicyView* const old = objects_.DefaultOf(user);
    if (old != nullptr && PartsOf(*old).account != account) {
      Do(PolicyVerb::kSet, PolicyKind::kAssociation, old->name, {{"DefaultAccount", "NO"}});
    }
  }

  void AddUsers() {
    std::vector<std::string> accounts = request_.accounts;
    if (accounts.empty() && !request_.default_account.empty()) {
      accounts.push_back(request_.default_account);
    }
    for (const std::string& account : accounts) {
      if (!objects_.HasAccount(account)) {
        plan_.problem = absl::StrCat(" This account '", account, "' doesn't exist.\n", kNoAccount);
        return;
      }
    }
    if (accounts.empty()) {
      plan_.problem = " Need name of account to add user to.";
      return;
    }
    if (!request_.default_account.empty() && !Contains(accounts, request_.default_account)) {
      plan_.problem = absl::StrCat(" The account '", request_.default_account,
                                   "' is not among those that the user is added to");
      return;
    }
    std::string people;
    std::string lines;
    for (const std::string& user : request_.names) {
      lines += AddUser(user, accounts, &people);
    }
    if (lines.empty()) {
      return;
    }
    const bool says_default = !people.empty() && !request_.default_account.empty();
    plan_.text = absl::StrCat(
        people.empty() ? "" : " Adding User(s)\n", people,
        says_default
            ? absl::StrCat(" Settings =\n  Default Account = ", request_.default_account, "\n")
            : "",
        " Associations =\n", lines, " Non Default Settings\n",
        SettingLines(AsKept(PolicyKind::kAssociation, request_.settings), 13));
  }

  // The lines of the user's new associations; a new user is added to `people`.
  std::string AddUser(const std::string& user, const std::vector<std::string>& accounts,
                      std::string* people) {
    const bool is_new = objects_.Associations({user}, {}).empty();
    const std::string chosen = !request_.default_account.empty() ? request_.default_account
                               : is_new                          ? accounts[0]
                                                                 : "";
    std::string lines;
    for (const std::string& account : accounts) {
      const std::string name = AssociationName(account, user);
      if (objects_.Find("association", name) != nullptr) {
        continue;
      }
      std::vector<Assignment> settings = request_.settings;
      if (account == chosen) {
        DropDefault(user, chosen);
        settings.push_back({"DefaultAccount", "YES"});
      }
      Do(PolicyVerb::kAdd, PolicyKind::kAssociation, name, std::move(settings));
      lines += absl::StrFormat("  U = %-9s A = %-10s C = %-10s\n", user, account, cluster_);
    }
    if (is_new && !lines.empty()) {
      absl::StrAppend(people, "  ", user, "\n");
    }
    return lines;
  }

  void AddQos() {
    std::string names;
    for (const std::string& name : request_.names) {
      const PolicyView* const there = objects_.Find("qos", name);
      if (there == nullptr || there->implied) {
        Do(PolicyVerb::kAdd, PolicyKind::kQos, name, request_.settings);
        absl::StrAppend(&names, "  ", name, "\n");
      }
    }
    if (!names.empty()) {
      const std::vector<Assignment> kept = AsKept(PolicyKind::kQos, request_.settings);
      plan_.text = absl::StrCat(" Adding QOS(s)\n", names, kept.empty() ? "" : " Settings\n",
                                SettingLines(kept, 24));
    }
  }

  // "+a" and "-a" of a list of QOS that says nothing: it stands for what is inherited, at last for
  // all, so that adding one takes none away.
  std::vector<Assignment> Resolved(const PolicyView* object, const std::string& account) const {
    std::vector<Assignment> settings;
    for (const Assignment& setting : request_.settings) {
      const char sign = setting.value.empty() ? '\0' : setting.value.front();
      const bool edits = setting.key == "QOS" && (sign == '+' || sign == '-');
      if (!edits || (object != nullptr && !PolicyProperty(*object, "QOS").empty())) {
        settings.push_back(setting);
        continue;
      }
      const std::string inherited = objects_.QosOf(account);
      if (inherited.empty() && sign == '+') {
        continue;  // it may use all as it is
      }
      std::vector<std::string> names =
          SplitCommas(inherited.empty() ? objects_.AllQos() : inherited);
      for (const std::string& name : SplitCommas(setting.value.substr(1))) {
        names.erase(std::remove(names.begin(), names.end(), name), names.end());
        if (sign == '+') {
          names.push_back(name);
        }
      }
      settings.push_back({"QOS", absl::StrJoin(names, ",")});
    }
    return settings;
  }

  void Modify() {
    switch (request_.kind) {
      case ManagedKind::kAccount:
        ModifyAccounts();
        break;
      case ManagedKind::kUser:
        ModifyUsers();
        break;
      case ManagedKind::kQos:
        ModifyQos();
        break;
    }
    Nothing("modified");
  }

  void ModifyAccounts() {
    const bool describes =
        request_.recorded_only ||
        std::any_of(request_.settings.begin(), request_.settings.end(),
                    [](const Assignment& one) { return one.key == "Description"; });
    const bool limits = std::any_of(request_.settings.begin(), request_.settings.end(),
                                    [](const Assignment& one) { return one.key != "Description"; });
    std::string accounts;
    std::string lines;
    for (const PolicyView& object : objects_.all()) {
      if (object.kind != "account" || !Admits(request_.names, object.name)) {
        continue;
      }
      Set(PolicyKind::kAccount, object.name, Resolved(&object, object.name));
      absl::StrAppend(&accounts, "  ", object.name, "\n");
      lines += absl::StrFormat("  C = %-10s A = %s of %s\n", cluster_, object.name,
                               Objects::ParentOf(object));
      lines += LinesOfHeirs(object.name);
    }
    if (!accounts.empty()) {
      plan_.text =
          absl::StrCat(describes ? " Modified accounts...\n" : "", describes ? accounts : "",
                       limits ? " Modified account associations...\n" : "", limits ? lines : "");
    }
  }

  // Users of the account who take one of the settings from it.
  std::string LinesOfHeirs(const std::string& name) const {
    std::string lines;
    for (const PolicyView* below : objects_.Associations({}, {name})) {
      const bool takes = std::any_of(
          request_.settings.begin(), request_.settings.end(), [&](const Assignment& setting) {
            return IsInherited(setting.key) && PolicyProperty(*below, setting.key).empty();
          });
      lines += takes ? AssociationLine(cluster_, name, PartsOf(*below).user) : "";
    }
    return lines;
  }

  void ModifyUsers() {
    const std::vector<const PolicyView*> chosen =
        objects_.Associations(request_.names, request_.accounts);
    std::set<std::string> users;
    std::string lines;
    for (const PolicyView* one : chosen) {
      const AssociationParts parts = PartsOf(*one);
      users.insert(parts.user);
      Set(PolicyKind::kAssociation, one->name, Resolved(one, parts.account));
      lines += AssociationLine(cluster_, parts.account, parts.user);
    }
    if (users.empty()) {
      return;
    }
    if (!request_.default_account.empty() || request_.recorded_only) {
      absl::StrAppend(&plan_.text, " Modified users...\n  ", absl::StrJoin(users, "\n  "), "\n");
    }
    if (!request_.settings.empty()) {
      absl::StrAppend(&plan_.text, " Modified user associations...\n", lines);
    }
    for (const std::string& user : users) {
      SetDefault(user);
    }
  }

  void SetDefault(const std::string& user) {
    const std::string& account = request_.default_account;
    if (account.empty()) {
      return;
    }
    const std::string name = AssociationName(account, user);
    if (objects_.Find("association", name) == nullptr) {
      plan_.problem =
          absl::StrCat(" User ", user, " is not in account ", account, ": add it there first");
      return;
    }
    DropDefault(user, account);
    Do(PolicyVerb::kSet, PolicyKind::kAssociation, name, {{"DefaultAccount", "YES"}});
  }

  void ModifyQos() {
    std::string names;
    for (const PolicyView& object : objects_.all()) {
      if (object.kind == "qos" && Admits(request_.names, object.name)) {
        Set(PolicyKind::kQos, object.name, request_.settings);
        absl::StrAppend(&names, "  ", object.name, "\n");
      }
    }
    plan_.text = names.empty() ? "" : absl::StrCat(" Modified qos...\n", names);
  }

  void Delete() {
    switch (request_.kind) {
      case ManagedKind::kAccount:
        DeleteAccounts();
        break;
      case ManagedKind::kUser:
        DeleteUsers();
        break;
      case ManagedKind::kQos:
        DeleteNamed("qos", PolicyKind::kQos, " Deleting QOS(s)...\n");
        break;
    }
    Nothing("deleted");
  }

  void DeleteNamed(const char* kind, PolicyKind policy, const char* title) {
    std::string names;
    for (const std::string& name : request_.names) {
      const PolicyView* const there = objects_.Find(kind, name);
      if (there != nullptr && !there->implied) {
        Do(PolicyVerb::kDelete, policy, name, {});
        absl::StrAppend(&names, "  ", name, "\n");
      }
    }
    plan_.text = names.empty() ? "" : absl::StrCat(title, names);
  }

  void DeleteAccounts() {
    for (const PolicyView& object : objects_.all()) {
      const std::string& parent = PolicyProperty(object, "Parent");
      if (object.kind == "account" && Contains(request_.names, parent) &&
          !Contains(request_.names, object.name)) {
        plan_.problem = absl::StrCat(" Account ", object.name, " is below ", parent,
                                     ": delete it first, or give it another parent");
        return;
      }
    }
    std::string defaults;
    for (const PolicyView* below : objects_.Associations({}, request_.names)) {
      if (PolicyProperty(*below, "DefaultAccount") == "YES") {
        const AssociationParts parts = PartsOf(*below);
        defaults += absl::StrFormat("  C = %-15s A = %-10s U = %-9s\n", cluster_, parts.account,
                                    parts.user);
      }
    }
    if (!defaults.empty()) {
      plan_.problem = absl::StrCat(
          " Error with request: You can not remove the default account of a user\n", defaults,
          " Please either remove the accounts listed above from list and resubmit,\n"
          " or change these users' default accounts to remove the account(s).");
      return;
    }
    for (const PolicyView* below : objects_.Associations({}, request_.names)) {
      Do(PolicyVerb::kDelete, PolicyKind::kAssociation, below->name, {});
    }
    DeleteNamed("account", PolicyKind::kAccount, " Deleting accounts...\n");
    SortChildrenFirst();
  }

  // Deletions of accounts, those of children before those of their parents.
  void SortChildrenFirst() {
    const auto depth = [this](const PolicyStep& step) {
      std::size_t levels = 0;
      std::string account = step.kind == PolicyKind::kAccount ? step.name : "";
      for (; !account.empty() && levels <= objects_.all().size(); ++levels) {
        const PolicyView* const object = objects_.Find("account", account);
        account = object == nullptr ? "" : PolicyProperty(*object, "Parent");
      }
      return step.kind == PolicyKind::kAccount ? levels : objects_.all().size() + 1;
    };
    std::stable_sort(plan_.steps.begin(), plan_.steps.end(),
                     [&](const PolicyStep& a, const PolicyStep& b) { return depth(a) > depth(b); });
  }

  void DeleteUsers() {
    std::set<std::string> users;
    std::string lines;
    for (const PolicyView* one : objects_.Associations(request_.names, request_.accounts)) {
      const AssociationParts parts = PartsOf(*one);
      users.insert(parts.user);
      Do(PolicyVerb::kDelete, PolicyKind::kAssociation, one->name, {});
      lines +=
          absl::StrFormat("  C = %-10s A = %-10s U = %-9s\n", cluster_, parts.account, parts.user);
    }
    if (!users.empty()) {
      plan_.text = request_.accounts.empty()
                       ? absl::StrCat(" Deleting users...\n  ", absl::StrJoin(users, "\n  "), "\n")
                       : absl::StrCat(" Deleting user associations...\n", lines);
    }
  }

  const ManagerRequest& request_;
  const Objects objects_;
  const std::string& cluster_;
  ManagerPlan plan_;
};

}  // namespace

ManagerPlan PlanOf(const ManagerRequest& request, const std::vector<PolicyView>& objects,
                   const std::string& cluster) {
  return Planner(request, objects, cluster).Make();
}

}  // namespace muster::cli::slurm
