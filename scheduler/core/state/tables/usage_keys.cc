#include "scheduler/core/state/tables/usage_keys.h"

#include <algorithm>
#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/status.h"

namespace muster::core {
namespace {

constexpr std::uint64_t kThousand = 1000;

using NamedAmounts = std::map<std::string, std::uint64_t>;

void AddOnce(std::vector<std::string>& names, const std::string& name) {
  if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) {
    names.push_back(name);
  }
}

void AddEach(NamedAmounts& to, const NamedAmounts& more, std::uint64_t times) {
  for (const auto& [name, amount] : more) {
    if (amount * times > 0) {  // what is not there has no entry
      to[name] += amount * times;
    }
  }
}

void SubtractEach(NamedAmounts& from, const NamedAmounts& less, std::uint64_t times) {
  for (const auto& [name, amount] : less) {
    if (amount * times == 0) {
      continue;
    }
    const auto found = from.find(name);
    MUSTER_CHECK(found != from.end() && found->second >= amount * times);
    found->second -= amount * times;
    if (found->second == 0) {
      from.erase(found);
    }
  }
}

}  // namespace

std::string EffectiveQos(const std::string& qos) {
  return qos.empty() ? kImpliedQos : qos;
}

std::string EffectivePartition(const std::string& partition) {
  return partition.empty() ? kImpliedPartition : partition;
}

UsageKey KeyOf(PolicyKind kind, const std::string& name) {
  const std::size_t slash = name.find('/');
  switch (kind) {
    case PolicyKind::kPartition:
      return {UsageScope::kPartition, name, ""};
    case PolicyKind::kQos:
      return {UsageScope::kQos, name, ""};
    case PolicyKind::kAccount:
      return {UsageScope::kAccount, name, ""};
    case PolicyKind::kAssociation:
      return {UsageScope::kAssociation, name.substr(0, slash),
              slash == std::string::npos ? "" : name.substr(slash + 1)};
    case PolicyKind::kReservation:
      break;
  }
  return {UsageScope::kReservation, name, ""};
}

std::vector<std::string> ChargedAccounts(const SitePolicy& site, const std::string& account) {
  return AccountChain(site, account.empty() ? kRootAccountName : account);
}

std::vector<std::string> PartitionNames(const JobSpec& spec) {
  return absl::StrSplit(EffectivePartition(spec.partition), ',');
}

std::vector<std::string> QosOf(const SitePolicy& site, const std::string& qos,
                               const std::vector<std::string>& partitions) {
  std::vector<std::string> names = {EffectiveQos(qos)};
  for (const std::string& name : partitions) {
    if (const Partition* partition = FindPartition(site, name)) {
      AddOnce(names, partition->qos);
    }
  }
  return names;
}

std::vector<UsageKey> KeysOf(const SitePolicy& site, const JobSpec& spec,
                             const std::vector<std::string>& partitions) {
  std::vector<UsageKey> keys;
  for (const std::string& account : ChargedAccounts(site, spec.account)) {
    keys.push_back(UsageKey{UsageScope::kAccount, account, ""});
  }
  const std::string& user = spec.user.name;
  keys.push_back(UsageKey{UsageScope::kAssociation, spec.account, user});
  for (const std::string& qos : QosOf(site, spec.qos, partitions)) {
    keys.push_back(UsageKey{UsageScope::kQos, qos, ""});
    keys.push_back(UsageKey{UsageScope::kQosUser, qos, user});
    keys.push_back(UsageKey{UsageScope::kQosAccount, qos, spec.account});
  }
  for (const std::string& partition : partitions) {
    keys.push_back(UsageKey{UsageScope::kPartition, partition, ""});
  }
  if (!spec.reservation.empty()) {
    keys.push_back(UsageKey{UsageScope::kReservation, spec.reservation, ""});
  }
  return keys;
}

const Limits* LimitsOf(const SitePolicy& site, const UsageKey& key) {
  switch (key.scope) {
    case UsageScope::kAccount: {
      const AccountRules* account = FindAccount(site, key.name);
      return account == nullptr ? nullptr : &account->limits;
    }
    case UsageScope::kAssociation: {
      const AssociationRules* association = FindAssociation(site, key.name, key.user);
      return association == nullptr ? nullptr : &association->limits;
    }
    case UsageScope::kQos: {
      const Qos* qos = FindQos(site, key.name);
      return qos == nullptr ? nullptr : &qos->limits;
    }
    default:
      return nullptr;
  }
}

void AddUse(TresUse& use, const NodeAllocation& part, const Machine& machine) {
  use.cpus += part.cpus.Count();
  use.memory += part.memory.value();
  ++use.nodes;
  for (const GpuGrant& grant : part.gpus) {
    if (grant.gpu < machine.gpus.size()) {
      use.gpus[absl::AsciiStrToLower(machine.gpus[grant.gpu].model)] += grant.share.value();
    }
  }
  for (const GresCount& gres : part.gres) {
    use.gres[gres.name] += gres.count;
  }
}

void Add(TresUse& use, const TresUse& more, std::uint64_t times) {
  use.cpus += more.cpus * times;
  use.memory += more.memory * times;
  use.nodes += more.nodes * times;
  AddEach(use.gpus, more.gpus, times);
  AddEach(use.gres, more.gres, times);
}

void Subtract(TresUse& use, const TresUse& less, std::uint64_t times) {
  MUSTER_CHECK(use.cpus >= less.cpus * times && use.memory >= less.memory * times &&
               use.nodes >= less.nodes * times);
  use.cpus -= less.cpus * times;
  use.memory -= less.memory * times;
  use.nodes -= less.nodes * times;
  SubtractEach(use.gpus, less.gpus, times);
  SubtractEach(use.gres, less.gres, times);
}

TresUse LeastUse(const ResourceRequest& request) {
  TresUse use;
  use.nodes = request.min_nodes;
  use.cpus = std::uint64_t{request.cpus_per_task} *
             (request.overcommit ? request.min_nodes : request.tasks);
  use.memory = request.memory_per_node.value() * request.min_nodes +
               request.memory_per_cpu.value() * use.cpus;
  const std::uint64_t gpus = std::uint64_t{request.gpus_per_task.count} * request.tasks +
                             std::uint64_t{request.gpus_per_node.count} * request.min_nodes +
                             request.gpus.count;
  if (gpus > 0) {
    const std::string& type = !request.gpus_per_task.type.empty()   ? request.gpus_per_task.type
                              : !request.gpus_per_node.type.empty() ? request.gpus_per_node.type
                                                                    : request.gpus.type;
    const GpuShare each = request.gpu_share.zero() ? kWholeGpu : request.gpu_share;
    use.gpus[absl::AsciiStrToLower(type)] = gpus * each.value();
  }
  for (const GresCount& gres : request.gres) {
    use.gres[gres.name] = gres.count * request.min_nodes;
  }
  return use;
}

TresUse ForBudget(const TresUse& use, std::uint32_t thousandths) {
  const auto scaled = [thousandths](std::uint64_t amount) {
    return (amount * thousandths + kThousand - 1) / kThousand;
  };
  TresUse budget;
  budget.cpus = scaled(use.cpus);
  budget.memory = scaled((use.memory >> 20U) + ((use.memory & 0xfffffU) != 0 ? 1 : 0));
  budget.nodes = scaled(use.nodes);
  for (const auto& [model, amount] : use.gpus) {
    budget.gpus[model] = scaled(amount);
  }
  return budget;
}

}  // namespace muster::core
