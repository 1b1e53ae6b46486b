#include "scheduler/core/policy/policy_check.h"

#include <algorithm>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/model/policy/policy_text.h"

namespace muster::core {
namespace {

using Found = std::optional<PolicyProblem>;

struct At {
  PolicyKind kind;
  std::string name;
  Found operator()(const std::string& key, const std::string& text) const {
    return PolicyProblem{kind, name, key, text};
  }
};

bool QosExists(const SitePolicy& site, const std::string& name) {
  return name == kImpliedQos || FindQos(site, name) != nullptr;
}

bool AccountExists(const SitePolicy& site, const std::string& name) {
  return name == kRootAccountName || FindAccount(site, name) != nullptr;
}

Found CheckQosNames(const SitePolicy& site, const At& at, const std::string& key,
                    const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (!name.empty() && !QosExists(site, name)) {
      return at(key, absl::StrCat("there is no QOS ", name));
    }
  }
  return std::nullopt;
}

Found CheckAccountNames(const SitePolicy& site, const At& at, const std::string& key,
                        const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (!site.accounts.empty() && !AccountExists(site, name)) {
      return at(key, absl::StrCat("there is no account ", name));
    }
  }
  return std::nullopt;
}

Found Both(const At& at, const std::string& key, const std::vector<std::string>& allow,
           const std::vector<std::string>& deny) {
  for (const std::string& name : deny) {
    if (std::find(allow.begin(), allow.end(), name) != allow.end()) {
      return at(key, absl::StrCat(name, " is allowed and denied"));
    }
  }
  return std::nullopt;
}

// The first that finds something.
template <class... Checks>
Found FirstOf(const Checks&... checks) {
  Found found;
  static_cast<void>(((found = checks(), found.has_value()) || ...));
  return found;
}

// A budget of a job's own size cannot be above its group's: nothing could ever start.
Found CheckLimitsOf(const At& at, const Limits& limits) {
  const auto amount = [](const TresList& list, TresKind kind) -> std::optional<std::uint64_t> {
    for (const Tres& tres : list) {
      if (tres.kind == kind && tres.type.empty()) {
        return tres.count;
      }
    }
    return std::nullopt;
  };
  const auto nodes = amount(limits.max_tres_per_job, TresKind::kNode);
  if (nodes == std::uint64_t{0}) {
    return at("MaxTRESPerJob", "node=0 lets no job start; take the limit away with node=-1");
  }
  for (const Tres& tres : limits.grp_tres_mins) {
    if (tres.kind == TresKind::kGres) {
      return at("GrpTRESMins",
                absl::StrCat(TresName(tres), ": budgets count cpu, mem, node and GPUs"));
    }
  }
  if (limits.max_wall.has_value() && limits.max_wall->count() == 0) {
    return at("MaxWall", "0 lets no job start; take the limit away with -1");
  }
  return std::nullopt;
}

std::uint32_t NodesNamed(const Partition& partition) {
  const auto names = NodeNames(partition.nodes);
  return names.ok() ? static_cast<std::uint32_t>(names->size()) : 0;
}

Found CheckSizes(const At& at, const Partition& partition) {
  if (partition.max_nodes.has_value() && partition.min_nodes > *partition.max_nodes) {
    return at("MinNodes",
              absl::StrCat(partition.min_nodes, " is more than MaxNodes=", *partition.max_nodes));
  }
  if (partition.max_nodes == 0U) {
    return at("MaxNodes", "0 lets no job start; set State=DOWN instead");
  }
  if (!partition.nodes.empty() && partition.min_nodes > NodesNamed(partition)) {
    return at("MinNodes", absl::StrCat(partition.min_nodes, " is more than the ",
                                       NodesNamed(partition), " nodes of ", partition.nodes));
  }
  if (partition.max_time.has_value() && partition.max_time->count() == 0) {
    return at("MaxTime", "0 lets no job start; set State=DOWN instead");
  }
  if (partition.max_time.has_value() && partition.default_time.has_value() &&
      *partition.default_time > *partition.max_time) {
    return at("DefaultTime",
              absl::StrCat(PeriodText(*partition.default_time),
                           " is more than MaxTime=", PeriodText(*partition.max_time)));
  }
  return std::nullopt;
}

Found CheckPartition(const SitePolicy& site, const Partition& partition) {
  const At at{PolicyKind::kPartition, partition.name};
  return FirstOf(
      [&] { return CheckSizes(at, partition); },
      [&] { return CheckQosNames(site, at, "QoS", {partition.qos}); },
      [&] { return CheckQosNames(site, at, "AllowQos", partition.allow_qos); },
      [&] { return CheckQosNames(site, at, "DenyQos", partition.deny_qos); },
      [&] { return CheckAccountNames(site, at, "AllowAccounts", partition.allow_accounts); },
      [&] { return CheckAccountNames(site, at, "DenyAccounts", partition.deny_accounts); },
      [&] { return Both(at, "DenyAccounts", partition.allow_accounts, partition.deny_accounts); },
      [&] { return Both(at, "DenyQos", partition.allow_qos, partition.deny_qos); });
}

// A node that both partitions have; nothing when they share none.
std::optional<std::string> Shared(const Partition& a, const Partition& b) {
  if (a.nodes.empty() || b.nodes.empty()) {
    return a.nodes.empty() && b.nodes.empty() ? "all nodes" : a.nodes.empty() ? b.nodes : a.nodes;
  }
  const auto names = NodeNames(a.nodes);
  const auto others = NodeNames(b.nodes);
  if (!names.ok() || !others.ok()) {
    return std::nullopt;
  }
  const std::set<std::string> known(names->begin(), names->end());
  const auto found = std::find_if(others->begin(), others->end(),
                                  [&](const std::string& name) { return known.contains(name); });
  return found == others->end() ? std::nullopt : std::optional(*found);
}

// Partitions over the same nodes must agree on how those are given, and on who preempts whom.
Found CheckPair(const Partition& a, const Partition& b) {
  const At at{PolicyKind::kPartition, b.name};
  if (a.is_default && b.is_default) {
    return at("Default", absl::StrCat("partition ", a.name, " is the default already"));
  }
  const bool modes = a.priority_tier == b.priority_tier && a.preempt_mode != b.preempt_mode;
  if (a.exclusive == b.exclusive && !modes) {
    return std::nullopt;
  }
  const std::optional<std::string> shared = Shared(a, b);
  if (!shared.has_value()) {
    return std::nullopt;
  }
  if (a.exclusive != b.exclusive) {
    return at("Exclusive",
              absl::StrCat("contradicts partition ", a.name, ", which has ", *shared,
                           " too: give both whole nodes, or neither, or part their nodes"));
  }
  return at("PreemptMode",
            absl::StrCat("contradicts partition ", a.name, " of the same PriorityTier, which has ",
                         *shared, " too: use one mode, or another tier"));
}

Found CheckPartitions(const SitePolicy& site) {
  for (const auto& [name, partition] : site.partitions) {
    if (Found found = CheckPartition(site, partition)) {
      return found;
    }
  }
  for (auto a = site.partitions.begin(); a != site.partitions.end(); ++a) {
    for (auto b = std::next(a); b != site.partitions.end(); ++b) {
      if (Found found = CheckPair(a->second, b->second)) {
        return found;
      }
    }
  }
  return std::nullopt;
}

// True when following Preempt from `from` comes to `to`.
bool Preempts(const SitePolicy& site, const std::string& from, const std::string& to) {
  std::set<std::string> seen;
  std::vector<std::string> left = {from};
  while (!left.empty()) {
    const std::string name = left.back();
    left.pop_back();
    const Qos* qos = FindQos(site, name);
    if (qos == nullptr || !seen.insert(name).second) {
      continue;
    }
    if (std::find(qos->preempt.begin(), qos->preempt.end(), to) != qos->preempt.end()) {
      return true;
    }
    left.insert(left.end(), qos->preempt.begin(), qos->preempt.end());
  }
  return false;
}

Found CheckQos(const SitePolicy& site, const Qos& qos) {
  const At at{PolicyKind::kQos, qos.name};
  return FirstOf([&] { return CheckQosNames(site, at, "Preempt", qos.preempt); },
                 [&]() -> Found {
                   return Preempts(site, qos.name, qos.name)
                              ? at("Preempt", "its jobs could preempt one another in a circle")
                              : std::nullopt;
                 },
                 [&] { return CheckLimitsOf(at, qos.limits); });
}

Found CheckParent(const SitePolicy& site, const AccountRules& account) {
  const At at{PolicyKind::kAccount, account.name};
  if (account.name == kRootAccountName) {
    return account.parent.empty() ? std::nullopt : at("Parent", "the root account has no parent");
  }
  if (!AccountExists(site, account.parent)) {
    return at("Parent", absl::StrCat("there is no account ", account.parent));
  }
  constexpr int kDepthMax = 64;
  std::string above = account.parent;
  for (int depth = 1; above != kRootAccountName; ++depth) {
    if (above == account.name) {
      return at("Parent", absl::StrCat("account ", account.name, " would be above itself"));
    }
    const AccountRules* rules = FindAccount(site, above);
    if (rules == nullptr) {
      break;  // told where it is named
    }
    if (depth >= kDepthMax) {
      return at("Parent", "more than 64 accounts above one another, or a circle");
    }
    above = rules->parent;
  }
  return std::nullopt;
}

Found CheckDefaultQos(const SitePolicy& site, const At& at, const std::string& name,
                      const std::vector<std::string>& allowed) {
  if (Found found = CheckQosNames(site, at, "DefaultQOS", {name})) {
    return found;
  }
  if (!name.empty() && !allowed.empty() &&
      std::find(allowed.begin(), allowed.end(), name) == allowed.end()) {
    return at("DefaultQOS", absl::StrCat(name, " is not among its QOS"));
  }
  return std::nullopt;
}

Found CheckAccount(const SitePolicy& site, const AccountRules& account) {
  const At at{PolicyKind::kAccount, account.name};
  return FirstOf([&] { return CheckParent(site, account); },
                 [&] { return CheckQosNames(site, at, "QOS", account.qos); },
                 [&] { return CheckDefaultQos(site, at, account.default_qos, account.qos); },
                 [&] { return CheckLimitsOf(at, account.limits); });
}

Found CheckAssociation(const SitePolicy& site, const AssociationRules& association) {
  const At at{PolicyKind::kAssociation, AssociationName(association.account, association.user)};
  if (!AccountExists(site, association.account)) {
    return at("", absl::StrCat("there is no account ", association.account));
  }
  if (association.is_default) {
    for (const auto& [name, other] : site.associations) {
      if (other.user == association.user && other.is_default &&
          other.account < association.account) {
        return at("DefaultAccount", absl::StrCat(association.user, " has the default account ",
                                                 other.account, " already"));
      }
    }
  }
  return FirstOf(
      [&] { return CheckQosNames(site, at, "QOS", association.qos); },
      [&] { return CheckDefaultQos(site, at, association.default_qos, association.qos); },
      [&] { return CheckLimitsOf(at, association.limits); });
}

Found CheckReservation(const SitePolicy& site, const Reservation& reservation) {
  const At at{PolicyKind::kReservation, reservation.name};
  if (reservation.start == kNoTime) {
    return at("StartTime", "is missing");
  }
  if (reservation.end <= reservation.start) {
    return at("EndTime", "is not after StartTime: say EndTime or Duration");
  }
  const std::optional<Duration> period = PeriodOf(reservation);
  if (period.has_value() && reservation.end - reservation.start >= *period) {
    return at("EndTime", "is after the next begins: a recurring reservation is shorter");
  }
  if ((reservation.flags & kDailyRepeat) != 0 && (reservation.flags & kWeeklyRepeat) != 0) {
    return at("Flags", "DAILY and WEEKLY exclude each other");
  }
  if (reservation.nodes.empty()) {
    return at("Nodes", "are missing: say Nodes or NodeCnt");
  }
  if ((reservation.flags & kMaint) == 0 && reservation.users.empty() &&
      reservation.accounts.empty()) {
    return at("Users", "and Accounts are missing: say for whom it is, or Flags=MAINT");
  }
  return CheckAccountNames(site, at, "Accounts", reservation.accounts);
}

template <class T, class Check>
Found Each(const SitePolicy& site, const std::map<std::string, T>& objects, const Check& check) {
  for (const auto& [name, object] : objects) {
    if (Found found = check(site, object)) {
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace

std::string ToSentence(const PolicyProblem& problem) {
  return absl::StrCat(Name(problem.kind), " ", problem.name, ": ", problem.key,
                      problem.key.empty() ? "" : ": ", problem.text);
}

std::optional<PolicyProblem> FindProblem(const SitePolicy& site) {
  return FirstOf([&] { return CheckPartitions(site); },
                 [&] { return Each(site, site.qos, CheckQos); },
                 [&] { return Each(site, site.accounts, CheckAccount); },
                 [&] { return Each(site, site.associations, CheckAssociation); },
                 [&] { return Each(site, site.reservations, CheckReservation); });
}

}  // namespace muster::core
