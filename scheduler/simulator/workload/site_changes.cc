#include "scheduler/simulator/workload/site_changes.h"

#include <chrono>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::sim {
namespace {

constexpr const char* kUsers[] = {"ada", "bob", "cleo"};
constexpr const char* kAccounts[] = {"physics", "optics", "chemistry"};

ChangePolicy Change(PolicyVerb verb, PolicyKind kind, std::string name,
                    std::vector<Assignment> said) {
  return ChangePolicy{verb, kind, std::move(name), std::move(said), User{0, 0, "root"}};
}

ChangePolicy Set(PolicyKind kind, std::string name, std::vector<Assignment> said) {
  return Change(PolicyVerb::kSet, kind, std::move(name), std::move(said));
}

const char* DrawAccount(RandomSequence& random) {
  return kAccounts[random.Below(std::size(kAccounts))];
}

std::string Number(RandomSequence& random, std::uint64_t most) {
  return absl::StrCat(1 + random.Below(most));
}

ChangePolicy ChangeAccount(RandomSequence& random) {
  const std::string account = DrawAccount(random);
  switch (random.Below(5)) {
    case 0:
      return Set(PolicyKind::kAccount, account, {{"Fairshare", Number(random, 10)}});
    case 1:
      return Set(PolicyKind::kAccount, account, {{"GrpTRES", "cpu=" + Number(random, 8)}});
    case 2:
      return Set(PolicyKind::kAccount, account, {{"GrpJobs", Number(random, 3)}});
    case 3:
      return Set(PolicyKind::kAccount, account, {{"GrpTRESMins", "cpu=" + Number(random, 20)}});
    default:
      return Set(PolicyKind::kAssociation,
                 AssociationName(account, kUsers[random.Below(std::size(kUsers))]),
                 {{"Fairshare", Number(random, 10)}, {"MaxJobs", Number(random, 4)}});
  }
}

ChangePolicy ChangeQos(RandomSequence& random) {
  switch (random.Below(4)) {
    case 0:
      return Set(PolicyKind::kQos, "quick", {{"Priority", Number(random, 1000)}});
    case 1:
      return Set(PolicyKind::kQos, "quick", {{"MaxTRESPerUser", "cpu=" + Number(random, 6)}});
    case 2:
      return Set(PolicyKind::kQos, "quick", {{"MaxJobsPerUser", Number(random, 3)}});
    default:
      return Set(PolicyKind::kQos, "idle", {{"UsageFactor", "0.5"}, {"MaxWall", "1"}});
  }
}

ChangePolicy ChangePartition(std::uint32_t nodes, RandomSequence& random) {
  const char* partition = random.Below(2) == 0 ? "half" : "few";
  switch (random.Below(5)) {
    case 0:
      return Set(PolicyKind::kPartition, partition, {{"State", "DOWN"}});
    case 1:
      return Set(PolicyKind::kPartition, partition, {{"State", "UP"}});
    case 2:
      return Set(PolicyKind::kPartition, partition, {{"PriorityTier", Number(random, 3)}});
    case 3:
      return Set(PolicyKind::kPartition, partition, {{"MaxNodes", Number(random, nodes)}});
    default:
      return Set(PolicyKind::kPartition, partition,
                 {{"Nodes", absl::StrCat("node[1-", 1 + random.Below(nodes), "]")}});
  }
}

}  // namespace

std::vector<ChangePolicy> SiteAtFirst(std::uint32_t nodes) {
  const auto add = [](PolicyKind kind, std::string name, std::vector<Assignment> said) {
    return Change(PolicyVerb::kAdd, kind, std::move(name), std::move(said));
  };
  std::vector<ChangePolicy> made = {
      add(PolicyKind::kPartition, "all", {{"Nodes", "ALL"}, {"Default", "YES"}}),
      add(PolicyKind::kPartition, "half",
          {{"Nodes", absl::StrCat("node[1-", (nodes + 1) / 2, "]")}}),
      add(PolicyKind::kPartition, "few", {{"Nodes", "node1"}, {"PriorityTier", "2"}}),
      add(PolicyKind::kQos, "quick", {{"Priority", "100"}, {"MaxJobsPerUser", "2"}}),
      add(PolicyKind::kQos, "idle", {{"UsageFactor", "0"}}),
      add(PolicyKind::kAccount, "physics", {{"Fairshare", "3"}}),
      add(PolicyKind::kAccount, "optics", {{"Parent", "physics"}}),
      add(PolicyKind::kAccount, "chemistry", {{"GrpTRES", "cpu=8"}})};
  for (const char* account : kAccounts) {
    for (const char* user : kUsers) {
      made.push_back(add(PolicyKind::kAssociation, AssociationName(account, user), {}));
    }
  }
  return made;
}

void NameSite(WishList* list) {
  list->accounts = {std::begin(kAccounts), std::end(kAccounts)};
  list->partitions = {"all", "half", "few", "few,all"};
  list->qos = {"quick", "idle"};
  list->licenses = {"solver"};
}

ChangePolicy DrawChange(std::uint32_t nodes, RandomSequence& random) {
  switch (random.Below(3)) {
    case 0:
      return ChangeAccount(random);
    case 1:
      return ChangeQos(random);
    default:
      return ChangePartition(nodes, random);
  }
}

std::vector<ChangePolicy> LiftAll() {
  std::vector<ChangePolicy> lifted;
  for (const char* partition : {"half", "few"}) {
    lifted.push_back(Set(PolicyKind::kPartition, partition,
                         {{"Nodes", "ALL"}, {"State", "UP"}, {"MaxNodes", "UNLIMITED"}}));
  }
  for (const char* account : kAccounts) {
    lifted.push_back(Set(PolicyKind::kAccount, account,
                         {{"GrpTRES", "cpu=-1"}, {"GrpJobs", "-1"}, {"GrpTRESMins", "cpu=-1"}}));
    for (const char* user : kUsers) {
      lifted.push_back(
          Set(PolicyKind::kAssociation, AssociationName(account, user), {{"MaxJobs", "-1"}}));
    }
  }
  lifted.push_back(
      Set(PolicyKind::kQos, "quick", {{"MaxTRESPerUser", "cpu=-1"}, {"MaxJobsPerUser", "-1"}}));
  lifted.push_back(Set(PolicyKind::kQos, "idle", {{"MaxWall", "-1"}}));
  return lifted;
}

void DrawSettings(RandomSequence& random, SchedulerConfig* config) {
  constexpr Backfill kBackfills[] = {Backfill::kNone, Backfill::kEasy, Backfill::kHybrid,
                                     Backfill::kConservative};
  PriorityConfig& priority = config->priority;
  config->backfill = kBackfills[random.Below(std::size(kBackfills))];
  constexpr QueueRule kOrders[] = {QueueRule::kPriority, QueueRule::kDrf, QueueRule::kPrompt};
  priority.order = kOrders[random.Below(std::size(kOrders))];
  config->prompt.slack = std::chrono::seconds(random.Below(60));
  config->prompt.patience = std::chrono::seconds(random.Below(120));
  priority.fairshare = random.Below(2) == 0 ? FairshareRule::kFairTree : FairshareRule::kClassic;
  priority.weight_age = static_cast<std::uint32_t>(random.Below(2000));
  priority.weight_fairshare = static_cast<std::uint32_t>(random.Below(5000));
  priority.weight_job_size = static_cast<std::uint32_t>(random.Below(1000));
  priority.weight_partition = static_cast<std::uint32_t>(random.Below(1000));
  priority.weight_qos = static_cast<std::uint32_t>(random.Below(2000));
  priority.weight_cpu = static_cast<std::uint32_t>(random.Below(500));
  priority.weight_memory = static_cast<std::uint32_t>(random.Below(500));
  priority.weight_gpu = static_cast<std::uint32_t>(random.Below(500));
  priority.favor_small = random.Below(2) == 0;
  priority.max_age = std::chrono::minutes(1);
  priority.half_life = std::chrono::minutes(1);
  priority.billing_rule = random.Below(2) == 0 ? BillingRule::kSum : BillingRule::kMaxTres;
  config->licenses = {LicenseCount{"solver", 3}};
}

}  // namespace muster::sim
