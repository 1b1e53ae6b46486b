#pragma once

// Policy: all that an administrator says about who may have what, as one set of named objects.
//
// Changed only by events (core/handle/policy_handlers judges, core/state/tables/policy_use_table
// applies). Thread promise: plain values; a published policy is immutable. Invariants: every object
// stands under its own name; names hold no '/'; associations stand under "ACCOUNT/USER". An empty
// policy is a cluster without rules: one implied partition "main" of all nodes, one implied QOS
// "normal", every user may use everything.

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "scheduler/model/policy/account_rules.h"
#include "scheduler/model/policy/partition.h"
#include "scheduler/model/policy/reservation.h"

namespace muster {

inline constexpr const char* kImpliedPartition = "main";
inline constexpr const char* kImpliedQos = "normal";

// The order of alternatives is the order of the wire's oneof: append only.
using PolicyObject = std::variant<Partition, Qos, AccountRules, AssociationRules, Reservation>;

// In the order of PolicyObject's alternatives.
enum class PolicyKind : std::uint8_t {
  kPartition = 0,
  kQos = 1,
  kAccount = 2,
  kAssociation = 3,
  kReservation = 4,
};

inline std::string AssociationName(const std::string& account, const std::string& user) {
  return account + "/" + user;
}

struct SitePolicy {
  std::map<std::string, Partition> partitions;
  std::map<std::string, Qos> qos;
  std::map<std::string, AccountRules> accounts;
  std::map<std::string, AssociationRules> associations;
  std::map<std::string, Reservation> reservations;

  static constexpr auto Fields(auto list) {
    return list(Field{"partitions", &SitePolicy::partitions}, Field{"qos", &SitePolicy::qos},
                Field{"accounts", &SitePolicy::accounts},
                Field{"associations", &SitePolicy::associations},
                Field{"reservations", &SitePolicy::reservations});
  }
  [[nodiscard]] bool empty() const {
    return partitions.empty() && qos.empty() && accounts.empty() && associations.empty() &&
           reservations.empty();
  }
  friend bool operator==(const SitePolicy&, const SitePolicy&) = default;
};

// "KEY=VALUE" as an administrator wrote it; names are matched whatever their case and underscores.
struct Assignment {
  std::string key;
  std::string value;
  static constexpr auto Fields(auto list) {
    return list(Field{"key", &Assignment::key}, Field{"value", &Assignment::value});
  }
  friend bool operator==(const Assignment&, const Assignment&) = default;
};

PolicyKind KindOf(const PolicyObject& object);
// "partition", "qos", "account", "association", "reservation".
const char* Name(PolicyKind kind);
std::string NameOf(const PolicyObject& object);
bool IsConfigured(const PolicyObject& object);
void SetConfigured(PolicyObject& object, bool configured);

// An object of the kind that says nothing but its name.
PolicyObject MakePolicyObject(PolicyKind kind, const std::string& name);
// Null when there is none.
const Partition* FindPartition(const SitePolicy& site, const std::string& name);
const Qos* FindQos(const SitePolicy& site, const std::string& name);
const AccountRules* FindAccount(const SitePolicy& site, const std::string& name);
const AssociationRules* FindAssociation(const SitePolicy& site, const std::string& account,
                                        const std::string& user);
const Reservation* FindReservation(const SitePolicy& site, const std::string& name);
bool Has(const SitePolicy& site, PolicyKind kind, const std::string& name);
// A copy. REQUIRES: Has().
PolicyObject Get(const SitePolicy& site, PolicyKind kind, const std::string& name);
void Put(SitePolicy& site, const PolicyObject& object);
void Erase(SitePolicy& site, PolicyKind kind, const std::string& name);
// All objects, by kind and name.
std::vector<PolicyObject> ObjectsOf(const SitePolicy& site);
// The account and all above it, the root account last; at most 64.
std::vector<std::string> AccountChain(const SitePolicy& site, const std::string& account);

}  // namespace muster
