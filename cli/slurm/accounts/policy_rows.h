#pragma once

// What `sacctmgr show` shows of policy: its columns, and a row for each object.
//
// Pure. Invariant: a row has the columns of its kind.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/slurm/accounts/named_columns.h"
#include "cli/slurm/format/amounts.h"
#include "scheduler/model/policy/policy_view.h"

namespace muster::cli::slurm {

// What the object says of `name`, in any case; "" when it says nothing.
const std::string& PolicyProperty(const PolicyView& object, const std::string& name);

// The parts of an association's name.
struct AssociationParts {
  std::string account;
  std::string user;
};
AssociationParts PartsOf(const PolicyView& association);

enum class ShownKind { kAccount, kAssociation, kCluster, kQos, kTres, kTransaction, kUser };

struct ShownColumns {
  std::span<const NamedColumn> all;
  const char* usual;
  const char* with_associations;  // "": as usual
};
ShownColumns ColumnsOf(ShownKind kind);

// "where user=ada account=physics": a row's value must be among those of its column.
struct ShownCondition {
  std::string column;
  std::vector<std::string> values;
};

// `objects`: accounts, associations and QOS. With `with_associations`, a row for each of them.
std::vector<std::vector<std::string>> RowsOfKind(ShownKind kind,
                                                 const std::vector<PolicyView>& objects,
                                                 const std::string& cluster,
                                                 bool with_associations);

// A row for each change of policy.
std::vector<std::vector<std::string>> TransactionRows(const std::vector<PolicyChangeView>& changes,
                                                      const Clockface& clock);

// The rows that fulfil all conditions.
std::vector<std::vector<std::string>> Fulfilling(const std::vector<std::vector<std::string>>& rows,
                                                 std::span<const NamedColumn> columns,
                                                 const std::vector<ShownCondition>& conditions);

}  // namespace muster::cli::slurm
