#include "scheduler/simulator/questions/drawn_questions.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/core/explain/slower_runs.h"
#include "scheduler/core/explain/stragglers.h"
#include "scheduler/core/place/estimate/gpu_sheet.h"
#include "scheduler/core/place/estimate/model_memory.h"
#include "scheduler/core/place/estimate/run_cost.h"
#include "scheduler/core/place/estimate/serving_roofline.h"
#include "scheduler/core/place/estimate/waiting_tail.h"
#include "scheduler/core/place/worth/collective_cost.h"
#include "scheduler/core/place/worth/gpu_packing.h"
#include "scheduler/core/prompt/promised_places.h"
#include "scheduler/core/prompt/run_time_estimates.h"
#include "scheduler/core/prompt/run_time_prediction.h"
#include "scheduler/core/share/account_tree.h"
#include "scheduler/core/share/billing.h"
#include "scheduler/core/share/decay.h"
#include "scheduler/core/share/live_shares.h"
#include "scheduler/simulator/questions/drawn_places.h"
#include "scheduler/simulator/workload/draws.h"
#include "scheduler/simulator/workload/spoiling.h"

namespace muster::sim {
namespace {

using Wrong = std::optional<std::string>;

template <class T>
std::optional<T> Maybe(RandomSequence& random, T value) {
  return Chance(random, 850) ? std::optional<T>(value) : std::nullopt;
}

core::PacedGpu DrawPacedGpu(RandomSequence& random, std::uint32_t rank) {
  core::PacedGpu gpu{absl::StrCat("GPU-", rank), Chance(random, 900) ? "H100" : "A40", {}};
  if (Chance(random, 100)) {
    return gpu;
  }
  GpuPace pace;
  pace.span = std::chrono::seconds(Chance(random, 900) ? 60 + Draw(random, 5) : 10);
  pace.looks = Chance(random, 900) ? 6 : 1;
  pace.busy = pace.span * static_cast<Duration::rep>(10 + Draw(random, 90)) / 100;
  pace.clock_mhz = Maybe(random, Chance(random, 800) ? 1'700 + Draw(random, 20) : 900U);
  pace.clock_most_mhz = Maybe(random, 1'980U);
  pace.brakes = Maybe(random, Draw(random, 64));
  pace.work = Maybe(random, Chance(random, 700) ? 900U : Draw(random, 1000));
  if (Chance(random, 700)) {
    pace.link = GpuLink{Maybe(random, 5U), Maybe(random, Chance(random, 900) ? 16U : 4U),
                        Maybe(random, Chance(random, 900) ? 18U : 12U)};
  }
  gpu.pace = pace;
  return gpu;
}

core::PacedRank DrawPacedRank(RandomSequence& random, std::uint32_t number, bool gpus) {
  core::PacedRank rank;
  rank.step = StepId(Chance(random, 900) ? 1 : 2);
  rank.rank = number;
  rank.node = absl::StrCat("node", 1 + number / 4);
  rank.nic = Chance(random, 300) ? "mlx5_0" : "";
  if (Chance(random, 920)) {
    RankPace pace;
    pace.span = std::chrono::seconds(Chance(random, 920) ? 60 : 20);
    pace.looks = 6;
    pace.wanted = Maybe(random, Chance(random, 800) ? 1'000U : Draw(random, 1'000));
    pace.granted = Maybe(random, Chance(random, 850) ? 1'000U : Draw(random, 1'000));
    pace.stolen = Maybe(random, Chance(random, 850) ? 0U : Draw(random, 500));
    pace.cpu_mhz = Maybe(random, Chance(random, 850) ? 3'000 + Draw(random, 10) : 1'500U);
    pace.progress = Maybe(random, std::uint64_t{Chance(random, 850) ? 1'000'000U : 600'000U});
    rank.pace = pace;
  }
  for (std::uint32_t i = 0; gpus && i < 1 + Draw(random, 2); ++i) {
    rank.gpus.push_back(DrawPacedGpu(random, number * 2 + i));
  }
  return rank;
}

// Never more than half of the ranks that were judged lag.
Wrong AskWhoLags(RandomSequence& random) {
  std::vector<core::PacedRank> ranks;
  const std::uint32_t count = Draw(random, 12);
  const bool gpus = Chance(random, 500);
  for (std::uint32_t i = 0; i < count; ++i) {
    ranks.push_back(DrawPacedRank(random, i, gpus));
  }
  const std::optional<StragglersView> found = core::FindStragglers(ranks);
  if (!found.has_value()) {
    return std::nullopt;
  }
  static_cast<void>(core::StragglerWarning(*found));
  return found->judged > found->ranks ? Wrong("more ranks are judged than there are")
                                      : std::nullopt;
}

Wrong AskWhichRunsAreSlower(RandomSequence& random) {
  std::vector<core::FinishedRun> runs;
  const std::uint32_t count = Draw(random, 30);
  const std::uint32_t slower = count - std::min(count, Draw(random, 8));
  for (std::uint32_t i = 0; i < count; ++i) {
    core::FinishedRun run;
    run.job = JobId(1 + i);
    run.ran = Duration(60'000 + Draw(random, 500) + (i >= slower ? 30'000 : 0));
    if (Chance(random, 700)) {
      run.record = {absl::StrCat("git.commit=", i >= slower && Chance(random, 800) ? "b" : "a")};
    }
    if (Chance(random, 200)) {
      run.record.emplace_back("modules=gcc");
    }
    run.nodes = {absl::StrCat("node", 1 + (i >= slower ? Draw(random, 2) : 0))};
    runs.push_back(std::move(run));
  }
  const std::optional<core::SlowerRuns> found = core::FindSlowerRuns(runs);
  return found.has_value() && (found->in_a_row < core::kInARow || ToSentence(*found).empty())
             ? Wrong("runs are said to be slower that are not")
             : std::nullopt;
}

std::optional<core::ExpertShape> DrawExperts(RandomSequence& random) {
  if (Chance(random, 500)) {
    return std::nullopt;
  }
  return core::ExpertShape{1 + random.Below(32), 8, 1 + random.Below(8), 1024, 2048};
}

core::TrainingSetup DrawSetup(RandomSequence& random) {
  core::TrainingSetup setup;
  setup.parameters = 100'000'000'000ULL / (1 + random.Below(100));
  setup.number_type = static_cast<core::NumberType>(random.Below(3));
  setup.optimizer = static_cast<core::Optimizer>(random.Below(4));
  setup.strategy = static_cast<core::ShardingStrategy>(random.Below(4));
  setup.tensor_parallel = 1 + Draw(random, 4);
  setup.pipeline_parallel = 1 + Draw(random, 4);
  setup.sequence_parallel = Chance(random, 500);
  setup.recomputation = static_cast<core::Recomputation>(random.Below(3));
  if (Chance(random, 700)) {
    setup.shape = core::TransformerShape{1 + random.Below(8), 4096, 4096, 32, 32};
    if (Chance(random, 150)) {
      std::uint64_t& member =
          *OneOf(random, {&setup.shape->sequence, &setup.shape->hidden, &setup.shape->layers,
                          &setup.shape->heads, &setup.shape->micro_batch});
      member =
          OneOf<std::uint64_t>(random, {UINT64_MAX / 7, 1ULL << 20U, 1ULL << 34U, 1ULL << 45U});
    }
  }
  setup.offload.optimizer = static_cast<core::StatePlace>(random.Below(3));
  setup.offload.weights = static_cast<core::StatePlace>(random.Below(3));
  setup.offload.activations = Chance(random, 300);
  setup.experts = DrawExperts(random);
  if (setup.experts.has_value() && Chance(random, 100)) {
    if (Chance(random, 500)) {
      setup.experts->inner = UINT64_MAX / 2;
    } else {
      setup.experts->experts = setup.experts->active = UINT64_MAX / 4;
    }
  }
  setup.expert_parallel = setup.experts.has_value() ? 1U << Draw(random, 3) : 1;
  setup.data_parallel = setup.expert_parallel * (1 + Draw(random, 8));
  if (Chance(random, 80)) {
    setup.parameters = UINT64_MAX / (1 + random.Below(20));
  }
  return setup;
}

Wrong AskHowMuchMemory(RandomSequence& random) {
  core::TrainingSetup setup = DrawSetup(random);
  if (setup.experts.has_value()) {
    const std::optional<std::uint64_t> experts = core::ExpertParameters(*setup.experts);
    setup.parameters = std::max(setup.parameters, experts.value_or(0));
    static_cast<void>(core::UsedExperts(*setup.experts, 1 + Draw(random, 100)));
    if (core::ActiveParameters(setup.parameters, *setup.experts) > setup.parameters) {
      return "a token is said to use more parameters than there are";
    }
  }
  const std::optional<core::TrainingMemory> memory = core::MemoryOf(setup);
  static_cast<void>(core::GradientBytes(setup));
  const Bytes most = kGibibyte * (20 + Draw(random, 100));
  const std::optional<std::uint32_t> least = core::LeastDataParallel(setup, most, 512);
  if (least.has_value()) {
    setup.data_parallel = *least;
    const std::optional<core::TrainingMemory> fits = core::MemoryOf(setup);
    if (!fits.has_value() || fits->total > most) {
      return "the least data-parallel degree is said to fit, and does not";
    }
  }
  static_cast<void>(core::OperationsOf(setup.recomputation));
  static_cast<void>(core::TrainingSeconds(6, 1e9, 1e9, 8, 1e14));
  static_cast<void>(core::EnergyOf(100, 700, 1.2));
  return memory.has_value() && memory->total < memory->weights &&
                 setup.offload.weights == core::StatePlace::kGpu
             ? Wrong("a model is said to take less than its weights")
             : std::nullopt;
}

Wrong AskHowFastItAnswers(RandomSequence& random) {
  core::ServedModel model;
  model.parameters = Chance(random, 900) ? 8'000'000'000ULL : UINT64_MAX / 2;
  model.weight_bits = OneOf(random, {4U, 8U, 16U, 32U});
  model.experts = DrawExperts(random);
  model.layers = Chance(random, 900) ? 32 : UINT64_MAX / 3;
  model.kv_heads = 8;
  model.head_size = 128;
  const auto& sheets = core::GpuSheets();
  const core::GpuSheet sheet = sheets[random.Below(sheets.size())];
  static_cast<void>(core::FindGpuSheet(Chance(random, 500) ? sheet.name : "none"));
  const std::uint64_t fit =
      core::SequencesThatFit(model, kGibibyte * sheet.memory_gib, 1 + random.Below(9000));
  if (!core::WeightBytes(model).has_value() || !core::KvBytesPerToken(model).has_value()) {
    return fit > 0 ? Wrong("sequences fit beside weights that do not") : std::nullopt;
  }
  const core::ServingGpus gpus{1.0 + Draw(random, 8), sheet.flops, sheet.bytes_per_second};
  const double batch = 1 + Draw(random, 64);
  const double prompt = 1 + Draw(random, 4000);
  const core::FullServing full = core::ServeFull(model, gpus, batch, prompt, 200);
  if (full.tokens_per_second <= 0 || core::PrefillSeconds(model, gpus, 100) <= 0 ||
      core::DecodeSeconds(model, gpus, 1, 100) <= 0) {
    return "an answer is said to take no time";
  }
  core::ServerQueue queue{1 + random.Below(Chance(random, 700) ? 20 : 5'000),
                          0.1 * (1 + Draw(random, 20)), 0.5 * Draw(random, 3)};
  const double most = static_cast<double>(queue.servers) / queue.service_seconds;
  const double rate =
      Chance(random, 500) ? 0.5 * Draw(random, 60) : 0.001 * Draw(random, 1001) * most;
  const std::optional<double> wait = core::WaitAt(queue, rate, 0.99);
  const double within =
      core::RateWithin(queue, Chance(random, 100) ? 1e15 : 0.3 * (1 + Draw(random, 20)), 0.99);
  ++queue.servers;
  const std::optional<double> less = core::WaitAt(queue, rate, 0.99);
  return within < 0 || (wait.has_value() && less.value_or(*wait + 1) > *wait + 1e-9)
             ? Wrong("another server makes requests wait more")
             : std::nullopt;
}

// Groups of one level after the other; some contradict one another.
core::LinkLevels DrawLevels(RandomSequence& random) {
  core::LinkLevels levels;
  std::uint32_t groups = 1 + Draw(random, 6);
  core::LinkLevel first{{}, {1e-6 * Draw(random, 3), 1e9 * (1 + Draw(random, 100))}};
  for (std::uint32_t i = 0; i < groups; ++i) {
    first.group_sizes.push_back(1 + Draw(random, 8));
  }
  levels.push_back(first);
  while (groups > 1) {
    const std::uint32_t joined = Chance(random, 500) ? groups : 1 + Draw(random, groups);
    core::LinkLevel level{{}, {1e-6, 1e9 * (1 + Draw(random, 10))}};
    for (std::uint32_t left = groups; left > 0; left -= std::min(left, joined)) {
      level.group_sizes.push_back(std::min(left, joined));
    }
    groups = static_cast<std::uint32_t>(level.group_sizes.size());
    levels.push_back(std::move(level));
    if (joined == 1) {
      break;
    }
  }
  if (Chance(random, 100)) {
    core::LinkLevel& spoilt = levels[random.Below(levels.size())];
    constexpr double kEndless = std::numeric_limits<double>::infinity();
    if (Chance(random, 300)) {
      spoilt.link.bytes_per_second = OneOf(random, {0.0, kEndless});
    } else if (Chance(random, 300)) {
      spoilt.link.alpha_s = OneOf(random, {-1.0, kEndless});
    } else {
      spoilt.group_sizes.push_back(Draw(random, 2));
    }
  }
  return levels;
}

Wrong AskWhatACollectiveCosts(RandomSequence& random) {
  const core::LinkLevels levels = DrawLevels(random);
  const auto collective = static_cast<core::Collective>(random.Below(3));
  const Bytes bytes(std::uint64_t{1} << random.Below(34));
  const std::optional<core::CollectiveCost> cost =
      core::PredictCollective(collective, bytes, levels);
  static_cast<void>(core::PointToPointSeconds(bytes, levels.front().link));
  static_cast<void>(core::RingBytesPerRank(collective, bytes, random.Below(9)));
  if (cost.has_value() != (core::RanksOf(levels) > 0)) {
    return "a collective is predicted over links that contradict one another";
  }
  for (std::uint32_t i = 0; cost.has_value() && i < 4; ++i) {
    const auto algorithm = static_cast<core::CollectiveAlgorithm>(i);
    static_cast<void>(core::ToText(algorithm));
    const auto other = core::CostOf(algorithm, collective, bytes, levels);
    if (other.has_value() && other->seconds < cost->seconds) {
      return absl::StrCat(core::ToText(algorithm), " is faster than what is said to be fastest");
    }
  }
  return std::nullopt;
}

// Estimates are between 1 and the limit.
Wrong AskHowLongJobsRun(RandomSequence& random) {
  core::RunTimeEstimates estimates;
  core::LastTwoPrediction last_two;
  for (std::uint32_t i = 0; i < 60; ++i) {
    core::JobLikeness job{static_cast<std::int64_t>(random.Below(3)) - 1,
                          OneOf<std::int64_t>(random, {60, 3600}),
                          static_cast<std::int64_t>(1 + random.Below(3)), random.Below(3)};
    const core::RunTimeEstimate estimate = estimates.Estimate(job);
    const std::int64_t predicted = last_two.Predict(job.user, job.limit);
    if (estimate.used < 1 || estimate.used > job.limit || predicted < 1 || predicted > job.limit) {
      return "a job is said to run for longer than it may";
    }
    if (core::CorrectedPrediction(predicted, Draw(random, 12), job.limit) > job.limit) {
      return "a corrected prediction is longer than the limit";
    }
    const auto ran = static_cast<std::int64_t>(
        Chance(random, 700) ? 1 + job.limit / 20 + Draw(random, 5) : Draw(random, 3700));
    estimates.Observe(job, estimate, ran);
    last_two.Observe(job.user, std::max<std::int64_t>(ran, 1));
    static_cast<void>(estimates.Trust(job.user));
  }
  return std::nullopt;
}

// What is kept is never more than there is, and what is given back can be had again.
Wrong AskForPlaces(RandomSequence& random) {
  constexpr std::int64_t kAmount = 16;
  core::PromisedPlaces places(kAmount, 0);
  std::vector<core::KeptPlace> kept;
  for (std::uint32_t i = 0; i < 80; ++i) {
    places.Advance(places.now() + Draw(random, 50));
    const auto limit = static_cast<core::PromiseTime>(1 + random.Below(20'000));
    const auto amount = static_cast<std::int64_t>(1 + random.Below(kAmount));
    const core::PromiseTime start =
        places.Earliest(places.now() + Draw(random, 300), limit, amount);
    if (Chance(random, 600)) {
      kept.push_back(places.Keep(start, limit, amount));
    } else if (!kept.empty()) {
      const std::size_t which = random.Below(kept.size());
      places.GiveBack(kept[which]);
      if (Chance(random, 300) && kept[which].start >= places.now()) {
        places.KeepAgain(kept[which]);
      } else {
        kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(which));
      }
    }
    const core::PromiseTime latest = places.Latest(start + Draw(random, 500), limit, amount);
    if (latest != core::kNoPromise && latest < places.now()) {
      return "a place is found in the past";
    }
    static_cast<void>(places.FitsNow(limit, amount, core::KeptPlace()));
    if (!kept.empty() && kept.back().start >= places.now()) {
      const core::KeptPlace& own = kept.back();
      static_cast<void>(places.FitsNow(own.until - own.from, own.amount, own));
    }
    const core::PromisedPlaces::Narrow narrow = places.FirstNarrow(Draw(random, 8));
    if (places.FreeNow() < 0 || narrow.free < 0) {
      return "more places are kept than there are";
    }
  }
  return std::nullopt;
}

AccountTree DrawTree(RandomSequence& random) {
  const std::string names[] = {"physics", "optics", "chemistry", "lasers"};
  AccountTree tree;
  for (std::size_t i = 0; i < std::size(names); ++i) {
    Account account;
    account.name = names[i];
    account.parent = i == 0 || Chance(random, 500) ? kRootAccount : names[random.Below(i)];
    account.shares = Chance(random, 150) ? kParentShares
                                         : ShareCount(static_cast<std::uint32_t>(random.Below(9)));
    account.usage.low = random.Below(1'000'000);
    tree.accounts.push_back(std::move(account));
  }
  for (const char* user : {"ada", "bob", "cleo"}) {
    Association association;
    association.user = user;
    association.account = names[random.Below(std::size(names))];
    association.shares = Chance(random, 150) ? kParentShares : ShareCount(1 + Draw(random, 5));
    association.usage.low = random.Below(1'000'000'000);
    tree.associations.push_back(std::move(association));
  }
  if (Chance(random, 200)) {
    tree.accounts.push_back(
        {kRootAccount, Chance(random, 300) ? "physics" : "", ShareCount(1), {}});
  }
  if (Chance(random, 50)) {
    tree.associations.push_back(tree.associations.front());
  }
  if (Chance(random, 50)) {
    OneOf(random, {&tree.accounts.front().shares, &tree.associations.front().shares})[0] =
        ShareCount(0x7fffffff);
  }
  if (Chance(random, 100)) {  // a circle
    tree.accounts[random.Below(2)].parent = "lasers";
    tree.accounts.back().parent = "optics";
  }
  if (Chance(random, 50)) {  // too deep
    for (std::size_t i = 0; i <= kAccountDepthMax; ++i) {
      tree.accounts.push_back(
          {absl::StrCat("deep", i), i == 0 ? kRootAccount : absl::StrCat("deep", i - 1), {}, {}});
    }
  }
  if (Chance(random, 50)) {
    tree = AccountTree();
  }
  for (std::uint32_t i = 0; i < Draw(random, 3); ++i) {
    SpoilOne(random, &tree);
  }
  return tree;
}

// What is found right has a share for each, and all of them together no more than there is.
Wrong AskForShares(RandomSequence& random) {
  const AccountTree tree = DrawTree(random);
  if (const std::optional<core::TreeFault> fault = core::CheckAccountTree(tree)) {
    return fault->text.empty() ? Wrong("a tree of accounts is refused without a reason")
                               : std::nullopt;
  }
  PriorityConfig config;
  config.fairshare = Chance(random, 500) ? FairshareRule::kFairTree : FairshareRule::kClassic;
  config.damping = 1 + Draw(random, 3);
  const ShareStatuses statuses = core::ShareStatusesOf(tree, config);
  return statuses.accounts.size() != tree.accounts.size() ||
                 statuses.associations.size() != tree.associations.size()
             ? Wrong("not all have a share")
             : std::nullopt;
}

// The lines of a receipt and what was earlier add up to the total.
Wrong AskForAReceipt(RandomSequence& random) {
  const Duration half_life =
      Chance(random, 200) ? Duration(0) : Duration(1'000 * (1 + Draw(random, 100'000)));
  Time now{Duration(1'767'225'600'000)};
  DecayedUsage usage;
  std::vector<ChargedRun> runs;
  for (std::uint32_t i = 0; i < 1 + Draw(random, 5); ++i) {
    ChargedRun run{JobId(1 + i), BillingRate(1 + random.Below(100'000'000)), now, now};
    run.until += std::chrono::seconds(Draw(random, 500'000));
    now = run.until + std::chrono::seconds(Draw(random, 50'000));
    usage = core::Charge(usage, run, half_life);
    runs.push_back(run);
  }
  if (Chance(random, 500)) {
    runs.erase(runs.begin());
  }
  const UsageReceipt receipt = core::MakeReceipt(usage, runs, now, half_life);
  ShownUsage sum = receipt.earlier;
  for (const ReceiptLine& line : receipt.lines) {
    sum += line.part;
  }
  const Duration other = Duration(1'000 * (1 + Draw(random, 100'000)));
  static_cast<void>(
      core::WithHalfLife(usage, now, half_life, Chance(random, 200) ? half_life : other));
  return sum != receipt.total ? Wrong("the lines of a receipt are not its total") : std::nullopt;
}

Wrong AskForWeights(RandomSequence& random) {
  constexpr const char* kTexts[] = {"cpu=1,mem=0.25G",
                                    "gres/gpu=2.5,license/x=1",
                                    "cpu",
                                    "mem=1M",
                                    "cpu=1,cpu=2",
                                    "cpu=1,",
                                    "cpu=",
                                    "gres/=1",
                                    "gres/",
                                    "license/a/b=1",
                                    "foo=1",
                                    "cpu=1G",
                                    "mem=1X",
                                    "cpu=-1",
                                    "cpu=99999999999999",
                                    "bb/a=1G",
                                    "cpu=0.1234567",
                                    "",
                                    "node=1.5,energy=0",
                                    "gres/a b=1",
                                    "=1",
                                    "mem=1.5T"};
  const std::string text = OneOf(random, kTexts);
  const auto weights = core::ParseTresWeights(text);
  if (!weights.ok()) {
    return weights.status().message().empty() ? Wrong("weights are refused without a reason")
                                              : std::nullopt;
  }
  const std::vector<TresAmount> amounts = {
      {"cpu", random.Below(100)}, {"mem", random.Below(1ULL << 40U)}, {"gres/gpu", 4}};
  const auto rule = static_cast<BillingRule>(random.Below(3));
  return core::Billing({}, *weights, rule) > core::Billing(amounts, *weights, rule)
             ? Wrong("nothing is billed more than something")
             : std::nullopt;
}

// The cheapest GPU is one that holds the job, and no other is cheaper.
Wrong AskWhereGpusPack(RandomSequence& random) {
  std::vector<core::PackingClass> classes;
  for (std::uint32_t i = 0; i < Draw(random, 5); ++i) {
    core::PackingClass kind;
    kind.cpu_milli = 1'000 * Draw(random, 8);
    kind.gpus = Draw(random, 4);
    kind.gpu_milli = kind.gpus == 1 && Chance(random, 600) ? 100 * (1 + Draw(random, 9)) : 1'000;
    kind.models = Chance(random, 700) ? ~0ULL : 1ULL << random.Below(2);
    kind.count = 1 + random.Below(20);
    classes.push_back(kind);
  }
  const core::PackingMix mix(classes);
  core::PackingRoom room{1'000 * Draw(random, 33), {}, Draw(random, 2)};
  for (std::uint32_t i = 0; i < Draw(random, 8); ++i) {
    room.gpus.push_back(Chance(random, 500) ? 1'000 : 100 * Draw(random, 10));
  }
  static_cast<void>(core::Fragmentation(room, mix));
  for (const core::PackingClass& job : mix) {
    if (job.gpus == 0 || !core::Holds(room, job)) {
      continue;
    }
    const core::PackingChoice choice = core::CheapestGpu(room, job, mix);
    if (choice.cost != core::CostOn(room, job, mix, choice.gpu)) {
      return "a place on a GPU is said to cost what it does not";
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> WrongAnswerToAnything(RandomSequence& random) {
  switch (random.Below(16)) {
    case 0:
      return AskWhoLags(random);
    case 1:
      return AskWhichRunsAreSlower(random);
    case 2:
      return AskHowMuchMemory(random);
    case 3:
      return AskHowFastItAnswers(random);
    case 4:
      return AskWhatACollectiveCosts(random);
    case 5:
      return AskHowLongJobsRun(random);
    case 6:
      return AskForShares(random);
    case 7:
      return AskForAReceipt(random);
    case 8:
      return AskForWeights(random);
    case 9:
      return AskWhereGpusPack(random);
    case 10:
      return AskForPlaces(random);
    default:
      return WrongPlace(random);
  }
}

}  // namespace muster::sim
