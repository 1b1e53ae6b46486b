#include "cli/slurm/accounts/policy_rows.h"

#include <algorithm>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace muster::cli::slurm {
namespace {

constexpr NamedColumn kAccountColumns[] = {
    {"Account", 10, ""},
    {"Description", 20, "Descr"},
    {"Organization", 20, "Org"},
    {"Cluster", 10, ""},
    {"ParentName", 10, ""},
    {"User", 10, ""},
    {"Share", 9, ""},
    {"QOS", 20, ""},
    {"DefaultQOS", 9, "Def QOS"},
};
constexpr NamedColumn kAssociationColumns[] = {
    {"Cluster", 10, ""},
    {"Account", 10, ""},
    {"User", 10, ""},
    {"Partition", 10, ""},
    {"Share", 9, ""},
    {"Priority", 10, ""},
    {"GrpJobs", 7, ""},
    {"GrpTRES", 13, ""},
    {"GrpSubmitJobs", 9, "GrpSubmit"},
    {"GrpWall", 11, ""},
    {"GrpTRESMins", 13, ""},
    {"MaxJobs", 7, ""},
    {"MaxTRES", 13, ""},
    {"MaxTRESPerNode", 14, ""},
    {"MaxSubmitJobs", 9, "MaxSubmit"},
    {"MaxWall", 11, ""},
    {"MaxTRESMins", 13, ""},
    {"QOS", 20, ""},
    {"DefaultQOS", 9, "Def QOS"},
    {"GrpTRESRunMins", 13, ""},
    {"GrpCPUs", 8, ""},
    {"GrpMem", 7, ""},
    {"Fairshare", 9, "Share"},
    {"ParentName", 10, ""},
};
constexpr NamedColumn kClusterColumns[] = {
    {"Cluster", 10, ""}, {"ControlHost", 15, ""},         {"ControlPort", 12, ""}, {"RPC", 5, ""},
    {"Share", 9, ""},    {"Classification", 14, "Class"}, {"QOS", 20, ""},
};
constexpr NamedColumn kQosColumns[] = {
    {"Name", 10, ""},
    {"Priority", 10, ""},
    {"GraceTime", 10, ""},
    {"Preempt", 10, ""},
    {"PreemptExemptTime", 19, ""},
    {"PreemptMode", 11, ""},
    {"Flags", 40, ""},
    {"UsageThres", 10, ""},
    {"UsageFactor", 11, ""},
    {"GrpTRES", 13, ""},
    {"GrpTRESMins", 13, ""},
    {"GrpTRESRunMins", 15, ""},
    {"GrpJobs", 7, ""},
    {"GrpSubmitJobs", 9, "GrpSubmit"},
    {"GrpWall", 11, ""},
    {"MaxTRESPerJob", 13, "MaxTRES"},
    {"MaxTRESPerNode", 14, ""},
    {"MaxTRESMins", 13, ""},
    {"MaxWall", 11, ""},
    {"MaxTRESPerUser", 13, "MaxTRESPU"},
    {"MaxJobsPerUser", 9, "MaxJobsPU"},
    {"MaxSubmitJobsPerUser", 11, "MaxSubmitPU"},
    {"MaxTRESPerAccount", 13, "MaxTRESPA"},
    {"MaxJobsPerAccount", 9, "MaxJobsPA"},
    {"MaxSubmitJobsPerAccount", 11, "MaxSubmitPA"},
    {"MinTRESPerJob", 13, "MinTRES"},
};
constexpr NamedColumn kTresColumns[] = {{"Type", 8, ""}, {"Name", 15, ""}, {"ID", 6, ""}};
// What Muster counts, by Slurm's numbers of it.
constexpr const char* kTresKinds[][3] = {{"cpu", "", "1"},
                                         {"mem", "", "2"},
                                         {"node", "", "4"},
                                         {"billing", "", "5"},
                                         {"gres", "gpu", "1001"}};
constexpr NamedColumn kTransactionColumns[] = {
    {"Time", 19, ""}, {"Action", 20, ""}, {"Actor", 10, ""}, {"Where", 20, ""}, {"Info", 40, ""}};
constexpr NamedColumn kUserColumns[] = {
    {"User", 10, ""},
    {"DefaultAccount", 10, "Def Acct"},
    {"AdminLevel", 9, "Admin"},
    {"Cluster", 10, ""},
    {"Account", 10, ""},
    {"Partition", 10, ""},
    {"Share", 9, ""},
    {"Priority", 10, ""},
    {"MaxJobs", 7, ""},
    {"MaxSubmitJobs", 9, "MaxSubmit"},
    {"MaxWall", 11, ""},
    {"QOS", 20, ""},
    {"DefaultQOS", 9, "Def QOS"},
};

std::string ShareOf(const PolicyView& object) {
  const std::string& share = PolicyProperty(object, "Fairshare");
  return share.empty() ? "1" : share;
}

using Rows = std::vector<std::vector<std::string>>;
using Values = std::map<std::string, std::string>;

// A row from what is known by the columns' names; the rest are the object's properties.
std::vector<std::string> RowFrom(std::span<const NamedColumn> columns, const PolicyView& object,
                                 const Values& known) {
  std::vector<std::string> row;
  for (const NamedColumn& column : columns) {
    const auto found = known.find(column.name);
    row.push_back(found == known.end() ? PolicyProperty(object, column.name) : found->second);
  }
  return row;
}

Rows AssociationRows(const std::vector<PolicyView>& objects, const std::string& cluster) {
  Rows rows;
  for (const PolicyView& object : objects) {
    if (object.kind != "association" && object.kind != "account") {
      continue;
    }
    const bool whole = object.kind == "account";
    const auto [account, user] = whole ? AssociationParts{object.name, ""} : PartsOf(object);
    rows.push_back(RowFrom(kAssociationColumns, object,
                           {{"Cluster", cluster},
                            {"Account", account},
                            {"User", user},
                            {"Share", ShareOf(object)},
                            {"Fairshare", ShareOf(object)},
                            {"MaxTRES", PolicyProperty(object, "MaxTRESPerJob")},
                            {"ParentName", whole ? PolicyProperty(object, "Parent") : ""}}));
  }
  return rows;
}

Rows AccountRows(const std::vector<PolicyView>& objects, const std::string& cluster,
                 bool with_associations) {
  Rows rows;
  for (const PolicyView& object : objects) {
    if (object.kind != "account") {
      continue;
    }
    const std::string& parent = PolicyProperty(object, "Parent");
    rows.push_back(RowFrom(kAccountColumns, object,
                           {{"Account", object.name},
                            {"Cluster", with_associations ? cluster : ""},
                            {"ParentName", parent.empty() ? "root" : parent},
                            {"Share", ShareOf(object)}}));
    for (const PolicyView& below : objects) {
      if (with_associations && below.kind == "association" &&
          PartsOf(below).account == object.name) {
        rows.push_back(RowFrom(kAccountColumns, below,
                               {{"Account", object.name},
                                {"Description", PolicyProperty(object, "Description")},
                                {"Cluster", cluster},
                                {"User", PartsOf(below).user},
                                {"Share", ShareOf(below)}}));
      }
    }
  }
  return rows;
}

Rows UserRows(const std::vector<PolicyView>& objects, const std::string& cluster,
              bool with_associations) {
  std::map<std::string, std::vector<const PolicyView*>> users;
  for (const PolicyView& object : objects) {
    if (object.kind == "association") {
      users[PartsOf(object).user].push_back(&object);
    }
  }
  Rows rows;
  for (const auto& [user, associations] : users) {
    const auto chosen = std::find_if(
        associations.begin(), associations.end(),
        [](const PolicyView* each) { return PolicyProperty(*each, "DefaultAccount") == "YES"; });
    const PolicyView* usual = chosen == associations.end() ? associations.front() : *chosen;
    for (const PolicyView* each : associations) {
      if (!with_associations && each != usual) {
        continue;
      }
      rows.push_back(RowFrom(kUserColumns, *each,
                             {{"User", user},
                              {"DefaultAccount", PartsOf(*usual).account},
                              {"Cluster", with_associations ? cluster : ""},
                              {"Account", with_associations ? PartsOf(*each).account : ""},
                              {"Share", ShareOf(*each)}}));
    }
  }
  return rows;
}

Rows QosRows(const std::vector<PolicyView>& objects) {
  Rows rows;
  for (const PolicyView& object : objects) {
    if (object.kind == "qos") {
      const std::string& priority = PolicyProperty(object, "Priority");
      const std::string& factor = PolicyProperty(object, "UsageFactor");
      const std::string& grace = PolicyProperty(object, "GraceTime");
      rows.push_back(RowFrom(kQosColumns, object,
                             {{"Name", object.name},
                              {"Priority", priority.empty() ? "0" : priority},
                              {"GraceTime", grace.empty() ? "00:00:00" : grace},
                              {"UsageFactor", factor.empty() ? "1.000000" : factor}}));
    }
  }
  return rows;
}

Rows TresRows() {
  Rows rows;
  for (const auto& kind : kTresKinds) {
    rows.push_back({kind[0], kind[1], kind[2]});
  }
  return rows;
}

// "Add Users", of "association".
std::string ActionOf(const PolicyChangeView& change) {
  const char* const verb = change.deleted                           ? "Remove"
                           : absl::StartsWith(change.text, "added") ? "Add"
                                                                    : "Modify";
  const char* const what = change.kind == "association" ? "Associations"
                           : change.kind == "account"   ? "Accounts"
                           : change.kind == "qos"       ? "QOS"
                                                        : "Others";
  return absl::StrCat(verb, " ", what);
}

}  // namespace

std::vector<std::vector<std::string>> TransactionRows(const std::vector<PolicyChangeView>& changes,
                                                      const Clockface& clock) {
  Rows rows;
  for (const PolicyChangeView& change : changes) {
    rows.push_back({clock.Text(change.time, "Unknown"), ActionOf(change), change.user, change.name,
                    change.text});
  }
  return rows;
}

const std::string& PolicyProperty(const PolicyView& object, const std::string& name) {
  static const std::string none;
  const auto found = std::find_if(
      object.properties.begin(), object.properties.end(),
      [&name](const Assignment& one) { return absl::EqualsIgnoreCase(one.key, name); });
  return found == object.properties.end() ? none : found->value;
}

AssociationParts PartsOf(const PolicyView& association) {
  const std::size_t slash = association.name.find('/');
  return {association.name.substr(0, slash),
          slash == std::string::npos ? "" : association.name.substr(slash + 1)};
}

ShownColumns ColumnsOf(ShownKind kind) {
  switch (kind) {
    case ShownKind::kAccount:
      return {kAccountColumns, "Account,Description,Organization",
              "Account,Description,Organization,Cluster,ParentName,User,Share,QOS,DefaultQOS"};
    case ShownKind::kAssociation:
      return {kAssociationColumns,
              "Cluster,Account,User,Partition,Share,Priority,GrpJobs,GrpTRES,GrpSubmitJobs,GrpWall,"
              "GrpTRESMins,MaxJobs,MaxTRES,MaxTRESPerNode,MaxSubmitJobs,MaxWall,MaxTRESMins,QOS,"
              "DefaultQOS,GrpTRESRunMins",
              ""};
    case ShownKind::kCluster:
      return {kClusterColumns, "Cluster,ControlHost,ControlPort,RPC,Share,QOS", ""};
    case ShownKind::kQos:
      return {kQosColumns,
              "Name,Priority,GraceTime,Preempt,PreemptExemptTime,PreemptMode,Flags,UsageThres,"
              "UsageFactor,GrpTRES,GrpTRESMins,GrpTRESRunMins,GrpJobs,GrpSubmitJobs,GrpWall,"
              "MaxTRESPerJob,MaxTRESPerNode,MaxTRESMins,MaxWall,MaxTRESPerUser,MaxJobsPerUser,"
              "MaxSubmitJobsPerUser,MaxTRESPerAccount,MaxJobsPerAccount,MaxSubmitJobsPerAccount,"
              "MinTRESPerJob",
              ""};
    case ShownKind::kTres:
      return {kTresColumns, "Type,Name,ID", ""};
    case ShownKind::kTransaction:
      return {kTransactionColumns, "Time,Action,Actor,Where,Info", ""};
    case ShownKind::kUser:
      break;
  }
  return {kUserColumns, "User,DefaultAccount,AdminLevel",
          "User,DefaultAccount,AdminLevel,Cluster,Account,Partition,Share,Priority,MaxJobs,"
          "MaxSubmitJobs,MaxWall,QOS,DefaultQOS"};
}

std::vector<std::vector<std::string>> RowsOfKind(ShownKind kind,
                                                 const std::vector<PolicyView>& objects,
                                                 const std::string& cluster,
                                                 bool with_associations) {
  switch (kind) {
    case ShownKind::kAccount:
      return AccountRows(objects, cluster, with_associations);
    case ShownKind::kAssociation:
      return AssociationRows(objects, cluster);
    case ShownKind::kCluster:
      return {{cluster, "", "", "", "", "", ""}};
    case ShownKind::kQos:
      return QosRows(objects);
    case ShownKind::kTres:
      return TresRows();
    case ShownKind::kTransaction:
      return {};  // of changes, not of objects
    case ShownKind::kUser:
      break;
  }
  return UserRows(objects, cluster, with_associations);
}

std::vector<std::vector<std::string>> Fulfilling(const std::vector<std::vector<std::string>>& rows,
                                                 std::span<const NamedColumn> columns,
                                                 const std::vector<ShownCondition>& conditions) {
  Rows fulfilling;
  for (const std::vector<std::string>& row : rows) {
    const bool fulfils =
        std::all_of(conditions.begin(), conditions.end(), [&](const ShownCondition& condition) {
          const auto column =
              std::find_if(columns.begin(), columns.end(), [&](const NamedColumn& each) {
                return absl::EqualsIgnoreCase(each.name, condition.column);
              });
          return column == columns.end() ||
                 std::find(condition.values.begin(), condition.values.end(),
                           row[static_cast<std::size_t>(column - columns.begin())]) !=
                     condition.values.end();
        });
    if (fulfils) {
      fulfilling.push_back(row);
    }
  }
  return fulfilling;
}

}  // namespace muster::cli::slurm
