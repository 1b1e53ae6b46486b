#include "scheduler/simulator/workload/rare_changes.h"

#include <chrono>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/model/policy/policy_text.h"
#include "scheduler/simulator/workload/draws.h"
#include "scheduler/simulator/workload/machines.h"

namespace muster::sim {
namespace {

constexpr const char* kRareAccounts[] = {"physics", "optics", "chemistry", "root"};
constexpr const char* kRareUsers[] = {"ada", "bob", "cleo"};
constexpr const char* kRarePartitions[] = {"all", "half", "few", "more", "shut"};
constexpr const char* kRareQos[] = {"quick", "idle", "urgent", "night", "strict"};

std::string DrawName(PolicyKind kind, RandomSequence& random) {
  if (Chance(random, 20)) {
    return Chance(random, 500) ? "no name" : "nowhere";
  }
  switch (kind) {
    case PolicyKind::kPartition:
      return OneOf(random, kRarePartitions);
    case PolicyKind::kQos:
      return OneOf(random, kRareQos);
    case PolicyKind::kAccount:
      return OneOf(random, kRareAccounts);
    default: {
      const std::string account = OneOf(random, kRareAccounts);
      return AssociationName(account, OneOf(random, kRareUsers));
    }
  }
}

bool Has(const std::string& key, const char* part) {
  return key.find(part) != std::string::npos;
}

// Something that the key could have, or should not.
std::string DrawValue(const std::string& key, std::uint32_t nodes, RandomSequence& random) {
  constexpr const char* kTres[] = {"cpu=2",  "cpu=8",           "cpu=0",         "mem=8G",
                                   "node=1", "gres/gpu=1",      "node=0",        "gres/gpu=0",
                                   "cpu=-1", "gres/gpu:h100=1", "gres/gpu=3",    "gres/scratch=1",
                                   "mem=1G", "cpu=1,node=1",    "gres/gpu:a40=1"};
  constexpr const char* kNumbers[] = {"0", "1", "2", "3", "8", "-1", "x"};
  constexpr const char* kTimes[] = {"1", "0", "0:20", "5", "-1", "x"};
  constexpr const char* kWords[] = {"YES", "NO", "x"};
  constexpr const char* kModes[] = {"OFF", "CANCEL", "REQUEUE", "SUSPEND", "CHECKPOINT", "x"};
  constexpr const char* kStates[] = {"UP", "UP", "DOWN", "DRAIN", "INACTIVE"};
  constexpr const char* kFlags[] = {"DenyOnLimit", "PartitionTimeLimit,PartitionMaxNodes",
                                    "PartitionMinNodes", "", "x"};
  constexpr const char* kQosNames[] = {"quick",  "idle", "urgent", "quick,idle",
                                       "strict", "",     "normal", "x"};
  constexpr const char* kAccountNames[] = {"physics", "optics", "physics,chemistry", "", "x"};
  constexpr const char* kShares[] = {"1", "5", "0", "parent", "x"};
  constexpr const char* kFactors[] = {"0", "0.5", "2", "1", "x"};
  if (Has(key, "TRES")) {
    return OneOf(random, kTres);
  }
  if (key == "Nodes") {
    return Chance(random, 200) ? "" : absl::StrCat("node[1-", 1 + Draw(random, nodes), "]");
  }
  if (Has(key, "Time") || Has(key, "Wall")) {
    return OneOf(random, kTimes);
  }
  if (Has(key, "Accounts") || key == "Parent") {
    return OneOf(random, kAccountNames);
  }
  if (Has(key, "Qos") || Has(key, "QOS") || key == "QoS" || key == "Preempt") {
    return OneOf(random, kQosNames);
  }
  return key == "PreemptMode"                        ? OneOf(random, kModes)
         : key == "State"                            ? OneOf(random, kStates)
         : key == "Flags"                            ? OneOf(random, kFlags)
         : key == "Fairshare"                        ? OneOf(random, kShares)
         : key == "UsageFactor"                      ? OneOf(random, kFactors)
         : Has(key, "Default") || key == "Exclusive" ? OneOf(random, kWords)
                                                     : OneOf(random, kNumbers);
}

Actor DrawActor(RandomSequence& random) {
  const User root{0, 0, "root"};
  const User bob{1001, 1001, "bob"};
  switch (random.Below(6)) {
    case 0:
      return Actor(bob, false, {OneOf(random, kRareAccounts)});
    case 1:
      return Actor(bob, true, {});
    case 2:
      return Chance(random, 300) ? Actor(bob) : Actor(root);
    default:
      return Actor(root);
  }
}

// What the configuration names besides, which it may name no more the next time.
ConfigurePolicy DrawConfiguration(RandomSequence& random) {
  ConfigurePolicy configured{{}, User{0, 0, "root"}, "muster.toml"};
  if (Chance(random, 700)) {
    Qos night;
    night.name = "night";
    night.priority = Draw(random, 100);
    night.limits.max_jobs = 1 + Draw(random, 4);
    configured.objects.emplace_back(night);
  }
  if (Chance(random, 500)) {
    Qos urgent;
    urgent.name = "urgent";
    urgent.priority = 1000;
    urgent.preempt = {"idle"};
    urgent.preempt_mode = static_cast<PreemptMode>(random.Below(5));
    configured.objects.emplace_back(urgent);
  }
  if (Chance(random, 200)) {
    Partition more;
    more.name = "more";
    more.qos = Chance(random, 500) ? "night" : "";
    configured.objects.emplace_back(more);
  }
  return configured;
}

PowerClass DrawPowerClass(RandomSequence& random) {
  PowerClass kind;
  kind.name = "nodes";
  kind.nodes = Chance(random, 500) ? "ALL" : "node[2-9]";
  kind.except = Chance(random, 300) ? "node3" : "";
  kind.idle = std::chrono::seconds(5 + Draw(random, 30));
  kind.suspend_time = std::chrono::seconds(2 + Draw(random, 10));
  kind.boot_time = std::chrono::seconds(1 + Draw(random, 20));
  kind.resume_timeout = std::chrono::seconds(30 + Draw(random, 60));
  kind.busy_watts = Chance(random, 700) ? 400 : 0;
  kind.idle_watts = Chance(random, 700) ? 100 : 0;
  kind.off_watts = Chance(random, 700) ? 10 : 0;
  kind.keep_on = Chance(random, 400) ? 1 : 0;
  kind.most_on = Chance(random, 300) ? 2 : 0;
  kind.rate = Chance(random, 300) ? 2 : 0;
  return kind;
}

void DrawHealth(RandomSequence& random, HealthPolicy* health) {
  health->interval = Chance(random, 500) ? std::chrono::seconds(20) : Duration(0);
  health->recheck = std::chrono::seconds(10);
  health->at_boot = Chance(random, 700);
  health->drain = Chance(random, 800);
  health->confirm = 1 + Draw(random, 2);
  health->samples = 1 + Draw(random, 4);
  health->drained_percent_max = Chance(random, 500) ? 10 : 50;
  health->at_once_percent = Chance(random, 500) ? 10 : 100;
}

void DrawCheckpointing(RandomSequence& random, CheckpointPolicy* checkpoint) {
  checkpoint->writers = Draw(random, 3);
  checkpoint->bandwidth = Chance(random, 400) ? kMebibyte * 100 : Bytes();
  checkpoint->extension = static_cast<ExtensionRule>(random.Below(3));
  checkpoint->owners_extend = Chance(random, 500);
  checkpoint->quota.count = Chance(random, 300) ? 2 : 0;
}

void DrawLimits(RandomSequence& random, SchedulerConfig* config) {
  config->reservations = Draw(random, 6);
  config->reservations_max = Chance(random, 300) ? 3 : 10'000;
  config->default_time_limit =
      Chance(random, 300) ? Duration(std::chrono::seconds(60)) : Duration(0);
  config->kill_grace = std::chrono::seconds(1 + Draw(random, 10));
  config->kill_grace_max = Chance(random, 50) ? Duration(4'000) : Duration(600'000);
  config->requeues_max = Chance(random, 500) ? 5 : 1;
  config->submit_jobs_max = Chance(random, 200) ? 12 : 0;
  config->operator_uid = Chance(random, 200) ? 1000 : 0;
  config->prompt.promises = Chance(random, 300) ? 3 : 1000;
  config->prompt.stretch_permille = Chance(random, 300) ? 0 : 10'000;
  config->prompt.backlog_permille = Chance(random, 300) ? 0 : 500;
  config->priority.damping = 1 + Draw(random, 3);
  config->priority.billing = {{"cpu", 1'000'000, 0}, {"mem", 250'000, 30}};
  config->priority.billing_rule = static_cast<BillingRule>(random.Below(3));
  if (Chance(random, 500)) {
    config->priority.billing.push_back({"gres/gpu", 4'000'000, 0});
  }
  config->licenses = {LicenseCount{"meshes", 2}, LicenseCount{"solver", 3}};
}

}  // namespace

Command DrawRareChange(std::uint32_t nodes, RandomSequence& random) {
  if (Chance(random, 100)) {
    return DrawConfiguration(random);
  }
  ChangePolicy change;
  constexpr PolicyKind kKinds[] = {PolicyKind::kPartition, PolicyKind::kQos, PolicyKind::kAccount,
                                   PolicyKind::kAssociation};
  change.kind = kKinds[random.Below(std::size(kKinds))];
  change.name = DrawName(change.kind, random);
  change.verb = Chance(random, 30)    ? PolicyVerb::kDelete
                : Chance(random, 200) ? PolicyVerb::kAdd
                                      : PolicyVerb::kSet;
  change.by = DrawActor(random);
  const std::vector<std::string> keys = PolicyKeys(change.kind);
  const std::uint32_t count =
      change.verb == PolicyVerb::kDelete && Chance(random, 900) ? 0 : 1 + Draw(random, 2);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string key = keys[random.Below(keys.size())];
    change.assignments.push_back({key, DrawValue(key, nodes, random)});
  }
  if (Chance(random, 50)) {
    change.assignments.push_back({"RawUsage", "0"});
  }
  return change;
}

std::vector<ChangePolicy> RareSiteAtFirst(RandomSequence& random) {
  constexpr const char* kModes[] = {"OFF", "CANCEL", "REQUEUE", "SUSPEND", "CHECKPOINT"};
  constexpr const char* kShut[] = {"DRAIN", "INACTIVE", "DOWN"};
  std::vector<ChangePolicy> made;
  const auto make = [&made](PolicyVerb verb, PolicyKind kind, const char* name,
                            std::vector<Assignment> said) {
    made.push_back(ChangePolicy{verb, kind, name, std::move(said), Actor(User{0, 0, "root"})});
  };
  make(PolicyVerb::kAdd, PolicyKind::kPartition, "more",
       {{"Nodes", "node[2-9]"}, {"PriorityTier", "3"}});
  make(PolicyVerb::kAdd, PolicyKind::kQos, "urgent", {{"Priority", "500"}, {"Preempt", "idle"}});
  make(PolicyVerb::kAdd, PolicyKind::kPartition, "shut",
       {{"Nodes", "node1"}, {"State", OneOf(random, kShut)}});
  make(PolicyVerb::kAdd, PolicyKind::kQos, "night",
       {{"MaxTRESPerJob", "cpu=8"},
        {"Flags", "PartitionTimeLimit,PartitionMaxNodes,PartitionMinNodes"}});
  make(PolicyVerb::kAdd, PolicyKind::kQos, "strict",
       {{"Flags", "DenyOnLimit"}, {"MaxWall", "1"}, {"MaxTRESPerJob", "cpu=6"}});
  make(PolicyVerb::kSet, PolicyKind::kQos, "idle",
       {{"PreemptMode", OneOf(random, kModes)}, {"PreemptExemptTime", "0:05"}});
  // Jobs of a higher tier may end, or stop, those of a lower one.
  make(PolicyVerb::kSet, PolicyKind::kPartition, "half", {{"PriorityTier", "4"}});
  if (Chance(random, 500)) {
    make(PolicyVerb::kSet, PolicyKind::kPartition, "few", {{"MaxNodes", "2"}, {"MaxTime", "1"}});
    make(PolicyVerb::kSet, PolicyKind::kPartition, "more", {{"MinNodes", "2"}});
  }
  make(PolicyVerb::kSet, PolicyKind::kPartition, "all", {{"PreemptMode", OneOf(random, kModes)}});
  return made;
}

std::vector<ChangePolicy> LiftRareChanges(std::uint32_t nodes) {
  std::vector<ChangePolicy> lifted;
  const auto reset = [&lifted](PolicyKind kind, const std::string& name,
                               std::vector<Assignment> first) {
    for (const std::string& key : PolicyKeys(kind)) {
      // One at a time, so that what cannot be taken back keeps nothing else.
      ChangePolicy change{PolicyVerb::kSet, kind, name, first, Actor(User{0, 0, "root"})};
      change.assignments.push_back({key, ""});
      lifted.push_back(std::move(change));
    }
  };
  // Partitions that share no node contradict each other in nothing.
  std::uint32_t node = 0;
  for (const char* partition : kRarePartitions) {
    reset(PolicyKind::kPartition, partition, {{"Nodes", absl::StrCat("node", 1 + node++ % nodes)}});
  }
  for (const char* qos : kRareQos) {
    reset(PolicyKind::kQos, qos, {});
  }
  for (const char* account : kRareAccounts) {
    reset(PolicyKind::kAccount, account, {});
    for (const char* user : kRareUsers) {
      reset(PolicyKind::kAssociation, AssociationName(account, user), {});
    }
  }
  for (const char* partition : kRarePartitions) {
    lifted.push_back(ChangePolicy{PolicyVerb::kSet,
                                  PolicyKind::kPartition,
                                  partition,
                                  {{"Nodes", ""}, {"Exclusive", ""}, {"PreemptMode", ""}},
                                  Actor(User{0, 0, "root"})});
  }
  return lifted;
}

void DrawRareSettings(std::uint32_t nodes, RandomSequence& random, SchedulerConfig* config) {
  DrawLimits(random, config);
  DrawHealth(random, &config->health);
  DrawCheckpointing(random, &config->checkpoint);
  config->elastic.efficiency_percent = 50 + Draw(random, 51);
  config->elastic.restart_cost = std::chrono::seconds(1 + Draw(random, 3));
  config->elastic.last_call = std::chrono::seconds(Draw(random, 4));
  config->elastic.pause_costs = Draw(random, 4);
  config->elastic.shrink = Chance(random, 800);
  if (Chance(random, 700)) {
    config->network = std::make_shared<const Network>(DrawNetwork(nodes, random));
  }
  if (Chance(random, 400)) {
    config->power = {DrawPowerClass(random)};
  }
  if (Chance(random, 600)) {
    MigClass mig{"all", Chance(random, 700) ? "ALL" : "node[1-2]", {}};
    if (Chance(random, 300)) {
      mig.layouts = {MigLayout{{"3g.40gb", "3g.40gb"}},
                     MigLayout{{"1g.10gb", "1g.10gb", "1g.10gb", "1g.10gb"}}};
    }
    config->mig = {mig};
  }
}

}  // namespace muster::sim
