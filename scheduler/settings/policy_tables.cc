#include "scheduler/settings/policy_tables.h"

#include <optional>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/status.h"
#include "scheduler/core/policy/policy_check.h"
#include "scheduler/model/policy/policy_text.h"

namespace muster {
namespace {

struct Table {
  const char* name;
  PolicyKind kind;
};
constexpr Table kTables[] = {{"partition", PolicyKind::kPartition},
                             {"qos", PolicyKind::kQos},
                             {"account", PolicyKind::kAccount},
                             {"reservation", PolicyKind::kReservation}};
constexpr const char* kUserTable = "user";

// The error of an assignment, without the key, which ErrorAt says.
std::string WithoutKey(const absl::Status& status) {
  const std::string text(status.message());
  const std::size_t colon = text.find(": ");
  return colon == std::string::npos ? text : text.substr(colon + 2);
}

// Names with dots would be paths within the file.
absl::Status CheckTableName(const ConfigFile& file, const std::string& path,
                            const std::string& name) {
  absl::Status good = CheckPolicyName(name);
  if (good.ok() && name.find('.') == std::string::npos) {
    return good;
  }
  return file.ErrorAt(path, good.ok() ? "a name here has no dots" : std::string(good.message()));
}

absl::Status ReadInto(ConfigFile& file, const std::string& path,
                      const std::set<std::string>& skipped, PolicyObject* object) {
  std::vector<Assignment> said;
  for (const std::string& key : file.KeysUnder(path)) {
    if (!skipped.contains(key)) {
      std::string value;
      RETURN_IF_ERROR(file.ReadText(absl::StrCat(path, ".", key), &value));
      said.push_back(Assignment{key, value});
    }
  }
  for (const Assignment& assignment : InTableOrder(KindOf(*object), std::move(said))) {
    if (const absl::Status status = Assign(*object, assignment); !status.ok()) {
      return file.ErrorAt(absl::StrCat(path, ".", assignment.key), WithoutKey(status));
    }
  }
  return absl::OkStatus();
}

// A user's table makes an association with each of its accounts.
absl::Status ReadUser(ConfigFile& file, const std::string& user,
                      std::vector<PolicyObject>* objects) {
  const std::string path = absl::StrCat(kUserTable, ".", user);
  RETURN_IF_ERROR(CheckTableName(file, path, user));
  std::string accounts;
  std::string chosen;
  RETURN_IF_ERROR(file.ReadText(path + ".accounts", &accounts));
  RETURN_IF_ERROR(file.ReadText(path + ".default_account", &chosen));
  if (accounts.empty()) {
    return file.ErrorAt(path, "accounts is missing: say accounts = [\"NAME\"]");
  }
  bool found = false;
  for (const std::string& account : std::vector<std::string>(absl::StrSplit(accounts, ','))) {
    if (const absl::Status good = CheckPolicyName(account); !good.ok()) {
      return file.ErrorAt(path + ".accounts", std::string(good.message()));
    }
    PolicyObject object =
        MakePolicyObject(PolicyKind::kAssociation, AssociationName(account, user));
    RETURN_IF_ERROR(ReadInto(file, path, {"accounts", "default_account"}, &object));
    std::get<AssociationRules>(object).is_default = account == chosen;
    found = found || account == chosen;
    objects->push_back(std::move(object));
  }
  return found || chosen.empty()
             ? absl::OkStatus()
             : file.ErrorAt(path + ".default_account", "is not among the user's accounts");
}

// "max_nodes" of "MaxNodes", as the file wrote it.
std::string WrittenKey(const ConfigFile& file, const std::string& path, PolicyKind kind,
                       const std::string& key) {
  for (const std::string& written : file.KeysUnder(path)) {
    if (PolicyKey(kind, written) == key) {
      return absl::StrCat(path, ".", written);
    }
  }
  return path;
}

// The table that an object came from.
std::string PathOf(PolicyKind kind, const std::string& name) {
  if (kind == PolicyKind::kAssociation) {
    return absl::StrCat(kUserTable, ".", name.substr(name.find('/') + 1));
  }
  return absl::StrCat(Name(kind), ".", name);
}

}  // namespace

absl::StatusOr<std::vector<PolicyObject>> ReadPolicy(ConfigFile& file) {
  std::vector<PolicyObject> objects;
  for (const Table& table : kTables) {
    for (const std::string& name : file.KeysUnder(table.name)) {
      const std::string path = absl::StrCat(table.name, ".", name);
      RETURN_IF_ERROR(CheckTableName(file, path, name));
      PolicyObject object = MakePolicyObject(table.kind, name);
      RETURN_IF_ERROR(ReadInto(file, path, {}, &object));
      objects.push_back(std::move(object));
    }
  }
  for (const std::string& user : file.KeysUnder(kUserTable)) {
    RETURN_IF_ERROR(ReadUser(file, user, &objects));
  }
  return objects;
}

absl::Status CheckPolicyFile(const ConfigFile& file, const SitePolicy& site,
                             const std::vector<PolicyObject>& objects) {
  SitePolicy merged;
  for (const PolicyObject& object : ObjectsOf(site)) {
    if (!IsConfigured(object)) {
      Put(merged, object);
    }
  }
  for (PolicyObject object : objects) {
    auto* reservation = std::get_if<Reservation>(&object);
    if (reservation != nullptr && reservation->node_count > 0 && reservation->nodes.empty()) {
      reservation->nodes = "ALL";  // chosen when it is made
    }
    Put(merged, object);
  }
  const std::optional<core::PolicyProblem> problem = core::FindProblem(merged);
  if (!problem.has_value()) {
    return absl::OkStatus();
  }
  const std::string path = PathOf(problem->kind, problem->name);
  return file.ErrorAt(WrittenKey(file, path, problem->kind, problem->key),
                      file.Has(path) ? problem->text : core::ToSentence(*problem));
}

}  // namespace muster
