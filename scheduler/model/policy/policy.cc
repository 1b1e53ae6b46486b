#include "scheduler/model/policy/policy.h"

#include "scheduler/base/status.h"

namespace muster {
namespace {

constexpr std::size_t kChainMax = 64;

template <class T>
const T* Find(const std::map<std::string, T>& objects, const std::string& name) {
  const auto found = objects.find(name);
  return found == objects.end() ? nullptr : &found->second;
}

template <class T>
void Append(const std::map<std::string, T>& objects, std::vector<PolicyObject>& all) {
  for (const auto& [name, object] : objects) {
    all.emplace_back(object);
  }
}

// Calls visit(map) with the objects of the kind.
template <class Book, class Visitor>
auto WithKind(Book& site, PolicyKind kind, Visitor&& visit) {
  switch (kind) {
    case PolicyKind::kPartition:
      return visit(site.partitions);
    case PolicyKind::kQos:
      return visit(site.qos);
    case PolicyKind::kAccount:
      return visit(site.accounts);
    case PolicyKind::kAssociation:
      return visit(site.associations);
    case PolicyKind::kReservation:
      break;
  }
  return visit(site.reservations);
}

}  // namespace

PolicyKind KindOf(const PolicyObject& object) {
  return static_cast<PolicyKind>(object.index());
}

const char* Name(PolicyKind kind) {
  switch (kind) {
    case PolicyKind::kPartition:
      return "partition";
    case PolicyKind::kQos:
      return "qos";
    case PolicyKind::kAccount:
      return "account";
    case PolicyKind::kAssociation:
      return "association";
    case PolicyKind::kReservation:
      return "reservation";
  }
  return "";
}

std::string NameOf(const PolicyObject& object) {
  if (const auto* association = std::get_if<AssociationRules>(&object)) {
    return AssociationName(association->account, association->user);
  }
  return std::visit(
      [](const auto& held) -> std::string {
        if constexpr (requires { held.name; }) {
          return held.name;
        }
        return "";
      },
      object);
}

bool IsConfigured(const PolicyObject& object) {
  return std::visit([](const auto& held) { return held.configured; }, object);
}

void SetConfigured(PolicyObject& object, bool configured) {
  std::visit([configured](auto& held) { held.configured = configured; }, object);
}

PolicyObject MakePolicyObject(PolicyKind kind, const std::string& name) {
  switch (kind) {
    case PolicyKind::kPartition: {
      Partition made;
      made.name = name;
      return made;
    }
    case PolicyKind::kQos: {
      Qos made;
      made.name = name;
      return made;
    }
    case PolicyKind::kAccount: {
      AccountRules made;
      made.name = name;
      made.parent = name == kRootAccountName ? "" : kRootAccountName;
      return made;
    }
    case PolicyKind::kAssociation: {
      AssociationRules made;
      const std::size_t slash = name.find('/');
      made.account = name.substr(0, slash);
      made.user = slash == std::string::npos ? "" : name.substr(slash + 1);
      return made;
    }
    case PolicyKind::kReservation:
      break;
  }
  Reservation made;
  made.name = name;
  return made;
}

const Partition* FindPartition(const SitePolicy& site, const std::string& name) {
  return Find(site.partitions, name);
}

const Qos* FindQos(const SitePolicy& site, const std::string& name) {
  return Find(site.qos, name);
}

const AccountRules* FindAccount(const SitePolicy& site, const std::string& name) {
  return Find(site.accounts, name);
}

const AssociationRules* FindAssociation(const SitePolicy& site, const std::string& account,
                                        const std::string& user) {
  return Find(site.associations, AssociationName(account, user));
}

const Reservation* FindReservation(const SitePolicy& site, const std::string& name) {
  return Find(site.reservations, name);
}

bool Has(const SitePolicy& site, PolicyKind kind, const std::string& name) {
  return WithKind(site, kind, [&](const auto& objects) { return objects.contains(name); });
}

PolicyObject Get(const SitePolicy& site, PolicyKind kind, const std::string& name) {
  return WithKind(site, kind, [&](const auto& objects) {
    const auto found = objects.find(name);
    MUSTER_CHECK(found != objects.end());
    return PolicyObject(found->second);
  });
}

void Put(SitePolicy& site, const PolicyObject& object) {
  const std::string name = NameOf(object);
  if (const auto* partition = std::get_if<Partition>(&object)) {
    site.partitions.insert_or_assign(name, *partition);
  } else if (const auto* qos = std::get_if<Qos>(&object)) {
    site.qos.insert_or_assign(name, *qos);
  } else if (const auto* account = std::get_if<AccountRules>(&object)) {
    site.accounts.insert_or_assign(name, *account);
  } else if (const auto* association = std::get_if<AssociationRules>(&object)) {
    site.associations.insert_or_assign(name, *association);
  } else if (const auto* reservation = std::get_if<Reservation>(&object)) {
    site.reservations.insert_or_assign(name, *reservation);
  }
}

void Erase(SitePolicy& site, PolicyKind kind, const std::string& name) {
  WithKind(site, kind, [&](auto& objects) { return objects.erase(name); });
}

std::vector<PolicyObject> ObjectsOf(const SitePolicy& site) {
  std::vector<PolicyObject> all;
  Append(site.partitions, all);
  Append(site.qos, all);
  Append(site.accounts, all);
  Append(site.associations, all);
  Append(site.reservations, all);
  return all;
}

std::vector<std::string> AccountChain(const SitePolicy& site, const std::string& account) {
  std::vector<std::string> chain;
  std::string name = account;
  while (!name.empty() && chain.size() < kChainMax) {
    chain.push_back(name);
    const AccountRules* rules = FindAccount(site, name);
    name = rules != nullptr ? rules->parent : name == kRootAccountName ? "" : kRootAccountName;
  }
  return chain;
}

}  // namespace muster
