#pragma once

// The settings of the scheduler, as one value that is passed along.
//
// Invariants: durations are not negative.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/model/job/checkpoint_record.h"
#include "scheduler/model/job/license.h"
#include "scheduler/model/machine/network.h"
#include "scheduler/model/policy/tres_weight.h"
#include "scheduler/model/settings/backfill.h"
#include "scheduler/model/settings/elastic_policy.h"
#include "scheduler/model/settings/health_policy.h"
#include "scheduler/model/settings/mig_class.h"
#include "scheduler/model/settings/power_class.h"
#include "scheduler/model/settings/prompt_policy.h"
#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/value/units.h"

namespace muster {

// How the fairshare factor is reckoned.
enum class FairshareRule : std::uint8_t {
  kFairTree = 0,  // core/share/fair_tree.h
  kClassic = 1,   // core/share/classic_fairshare.h
};

// What the queue is ordered by, after the partitions' tiers.
enum class QueueRule : std::uint8_t {
  kPriority = 0,  // the multifactor priority (core/share/priority.h)
  kDrf = 1,       // the user with the least dominant share first, then priority
  kPrompt = 2,    // by key, with a promise to each job (core/prompt/prompt_order.h)
};
inline constexpr std::array<std::pair<const char*, QueueRule>, 3> kQueueRules = {
    {{"priority", QueueRule::kPriority}, {"drf", QueueRule::kDrf}, {"prompt", QueueRule::kPrompt}}};
constexpr const char* Name(QueueRule rule) {
  return kQueueRules[static_cast<std::size_t>(rule)].first;
}

// The weights of the multifactor priority, Slurm's PriorityWeight*; all zero: first come, first
// served, but for nice.
struct PriorityConfig {
  QueueRule order = QueueRule::kPriority;
  FairshareRule fairshare = FairshareRule::kFairTree;
  std::uint32_t damping = 1;  // of classic fairshare
  std::uint32_t weight_age = 0;
  std::uint32_t weight_fairshare = 0;
  std::uint32_t weight_job_size = 0;
  std::uint32_t weight_partition = 0;
  std::uint32_t weight_qos = 0;
  std::uint32_t weight_cpu = 0;  // of what the job asks of all the cluster's, and so on
  std::uint32_t weight_memory = 0;
  std::uint32_t weight_gpu = 0;
  bool favor_small = false;                       // small jobs get the larger size factor
  Duration max_age = std::chrono::hours(24 * 7);  // from which on waiting counts no more
  Duration half_life = std::chrono::hours(24 * 7);
  BillingRule billing_rule = BillingRule::kSum;
  std::vector<TresWeight> billing = {{"cpu", 1'000'000, 0}};
  static constexpr auto Fields(auto list) {
    return list(
        Field{"order", &PriorityConfig::order}, Field{"fairshare", &PriorityConfig::fairshare},
        Field{"damping", &PriorityConfig::damping},
        Field{"weight_age", &PriorityConfig::weight_age},
        Field{"weight_fairshare", &PriorityConfig::weight_fairshare},
        Field{"weight_job_size", &PriorityConfig::weight_job_size},
        Field{"weight_partition", &PriorityConfig::weight_partition},
        Field{"weight_qos", &PriorityConfig::weight_qos},
        Field{"weight_cpu", &PriorityConfig::weight_cpu},
        Field{"weight_memory", &PriorityConfig::weight_memory},
        Field{"weight_gpu", &PriorityConfig::weight_gpu},
        Field{"favor_small", &PriorityConfig::favor_small},
        Field{"max_age", &PriorityConfig::max_age}, Field{"half_life", &PriorityConfig::half_life},
        Field{"billing_rule", &PriorityConfig::billing_rule},
        Field{"billing", &PriorityConfig::billing});
  }
};

// Which running jobs are given more time only once they have made a checkpoint.
enum class ExtensionRule : std::uint8_t {
  kNone = 0,
  kGpu = 1,  // jobs with GPUs
  kAll = 2,
};

// [checkpoint]: how jobs share the file system to which they write checkpoints (both zero: at
// will), how much each user keeps there, and which users may extend a job's time.
struct CheckpointPolicy {
  std::uint32_t writers = 0;  // jobs at once; 0: any number
  Bytes bandwidth;            // a second, of all of them together; zero: any
  ExtensionRule extension = ExtensionRule::kGpu;
  bool owners_extend = false;  // not operators alone, within what the partition allows
  CheckpointQuota quota;       // of each user
  static constexpr auto Fields(auto list) {
    return list(Field{"writers", &CheckpointPolicy::writers},
                Field{"bandwidth", &CheckpointPolicy::bandwidth},
                Field{"extension", &CheckpointPolicy::extension},
                Field{"owners_extend", &CheckpointPolicy::owners_extend},
                Field{"quota", &CheckpointPolicy::quota});
  }
  friend bool operator==(const CheckpointPolicy&, const CheckpointPolicy&) = default;
};

struct SchedulerConfig {
  Backfill backfill = Backfill::kHybrid;
  std::uint32_t reservations = 100;        // of kHybrid
  std::uint32_t reservations_max = 10000;  // of kConservative: jobs beyond are not protected
  Duration default_time_limit{0};          // for jobs that say none; 0: none
  Duration kill_grace = std::chrono::seconds(30);  // between SIGTERM and SIGKILL
  std::uint64_t array_elements_max = 1'000'000;
  std::uint32_t tasks_max = 1U << 20;
  std::uint32_t nodes_max = 1U << 16;
  std::uint32_t requeues_max = 5;      // then a job is held
  std::uint32_t operator_uid = 0;      // the user of the controller: may what root may
  std::vector<LicenseCount> licenses;  // what the cluster has, sorted by name
  PriorityConfig priority;
  std::shared_ptr<const Network> network = {};  // the map of the cluster; null: none
  HealthPolicy health;
  CheckpointPolicy checkpoint;
  ElasticPolicy elastic;
  // The most that a job may ask instead of kill_grace; zero: any (settings recorded before it was).
  Duration kill_grace_max = std::chrono::minutes(10);
  // Jobs of one user that may wait and run at once, whatever policy rules allow; zero: any number.
  std::uint32_t submit_jobs_max = 1'000'000;
  PromptPolicy prompt;            // of QueueRule::kPrompt
  std::vector<PowerClass> power;  // of nodes that are switched off while nobody needs them
  std::vector<MigClass> mig;      // of nodes whose GPUs are divided as jobs ask
  static constexpr auto Fields(auto list) {
    return list(Field{"backfill", &SchedulerConfig::backfill},
                Field{"reservations", &SchedulerConfig::reservations},
                Field{"reservations_max", &SchedulerConfig::reservations_max},
                Field{"default_time_limit", &SchedulerConfig::default_time_limit},
                Field{"kill_grace", &SchedulerConfig::kill_grace},
                Field{"array_elements_max", &SchedulerConfig::array_elements_max},
                Field{"tasks_max", &SchedulerConfig::tasks_max},
                Field{"nodes_max", &SchedulerConfig::nodes_max},
                Field{"requeues_max", &SchedulerConfig::requeues_max},
                Field{"operator_uid", &SchedulerConfig::operator_uid},
                Field{"licenses", &SchedulerConfig::licenses},
                Field{"priority", &SchedulerConfig::priority},
                Field{"network", &SchedulerConfig::network},
                Field{"health", &SchedulerConfig::health},
                Field{"checkpoint", &SchedulerConfig::checkpoint},
                Field{"elastic", &SchedulerConfig::elastic},
                Field{"kill_grace_max", &SchedulerConfig::kill_grace_max},
                Field{"submit_jobs_max", &SchedulerConfig::submit_jobs_max},
                Field{"prompt", &SchedulerConfig::prompt}, Field{"power", &SchedulerConfig::power},
                Field{"mig", &SchedulerConfig::mig});
  }
};

// How many blocked jobs are kept a place in the future.
constexpr std::uint32_t ReservationsOf(const SchedulerConfig& config) {
  switch (config.backfill) {
    case Backfill::kNone:
      return 0;
    case Backfill::kEasy:
      return 1;
    case Backfill::kConservative:
      return config.reservations_max;
    case Backfill::kHybrid:
      return config.reservations;
  }
  return 0;
}

}  // namespace muster
