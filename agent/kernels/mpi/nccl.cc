// nccl: the all-reduce of the ranks' GPUs by NCCL or RCCL, over all ranks and over each two of
// them.

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "agent/kernels/mpi/device_memory.h"
#include "agent/kernels/mpi/gpu_group.h"
#include "agent/kernels/mpi/world.h"

namespace muster::kernels {
namespace {

constexpr int64_t kSmall = 1;  // doubles of a message that has a latency alone
constexpr int kSmallInARow = 50;

// Whole numbers: their sum is exact in any order.
double Input(int rank, int64_t i) {
  return static_cast<double>((i * 31 + int64_t{rank} * 7) % 1001) - 500;
}

// Some ranks whose GPUs sum up together.
struct Group {
  std::vector<int> ranks;
  std::unique_ptr<GpuGroup> gpus;
  double best = 0;  // seconds of this rank's fastest repeat; 0: none yet
  bool failed = false;
};

struct Request {
  bool pairs = false;
  int64_t n = 0;
  std::unique_ptr<DeviceBuffer> in;
  std::unique_ptr<DeviceBuffer> out;
  Group all;
  std::vector<Group> rounds;  // with each one's partner; without ranks where it has none
};

// Whom the rank meets in that round, by the circle method: the last one stays, the others move on;
// itself: nobody.
int PartnerOf(int rank, int round, int size) {
  const int seats = size + size % 2;
  const int moving = seats - 1;
  int partner = 0;
  if (rank == seats - 1) {
    partner = round;
  } else if (rank == round) {
    partner = seats - 1;
  } else {
    partner = (2 * round - rank + 2 * moving) % moving;
  }
  return partner < size ? partner : rank;
}

int RoundsOf(const Request& request, int size) {
  return request.pairs && size > 2 ? size + size % 2 - 1 : 0;
}

// What the library says against the group on this rank; empty: nothing. Collective over all ranks.
std::string Join(const World& world, int partner, Group* group) {
  group->ranks = {std::min(world.rank, partner), std::max(world.rank, partner)};
  const bool alone = partner == world.rank;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_split(world.comm, alone ? MPI_UNDEFINED : group->ranks.front(), world.rank, &comm);
  std::string why_not;
  if (alone) {
    group->ranks.clear();
  } else {
    group->gpus = GpuGroup::Make(comm, &why_not);
    MPI_Comm_free(&comm);
  }
  return why_not;
}

bool AllAgree(const World& world, bool mine) {
  int all = mine ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, world.comm);
  return all == 1;
}

// A GPU, the library and the groups for each rank, or why not.
std::string Begin(const World& world, const BenchOptions& options, Request* request) {
  request->n = options.n;
  std::string why_not;
  request->in = DeviceBuffer::Make(world.rank, options.n, &why_not);
  request->out =
      request->in == nullptr ? nullptr : DeviceBuffer::Make(world.rank, options.n, &why_not);
  why_not = why_not.empty() ? WhyNoGpuCollectives() : why_not;
  if (!AllAgree(world, why_not.empty())) {
    return why_not;
  }
  std::vector<double> values(static_cast<size_t>(options.n));
  for (int64_t i = 0; i < options.n; ++i) {
    values[static_cast<size_t>(i)] = Input(world.rank, i);
  }
  why_not = request->in->Put(values.data()) ? "" : "the GPU refused the copy";
  for (int rank = 0; rank < world.size; ++rank) {
    request->all.ranks.push_back(rank);
  }
  std::string refused;
  request->all.gpus = GpuGroup::Make(world.comm, &refused);
  why_not = why_not.empty() ? refused : why_not;
  for (int round = 0; round < RoundsOf(*request, world.size); ++round) {
    if (!AllAgree(world, why_not.empty())) {
      break;
    }
    request->rounds.emplace_back();
    why_not = Join(world, PartnerOf(world.rank, round, world.size), &request->rounds.back());
  }
  return why_not;
}

double RunGroup(Request* request, Group* group) {
  if (group->gpus == nullptr) {
    return 0;
  }
  const double begin = MonotonicSeconds();
  group->failed = !group->gpus->AllReduce(request->in->data(), request->out->data(), request->n) ||
                  group->failed;
  const double seconds = MonotonicSeconds() - begin;
  group->best = group->best == 0 ? seconds : std::min(group->best, seconds);
  return seconds;
}

double RunSmall(Request* request) {
  Group& group = request->all;
  const double begin = MonotonicSeconds();
  for (int i = 0; i < kSmallInARow; ++i) {
    group.failed =
        !group.gpus->AllReduce(request->in->data(), request->out->data(), kSmall) || group.failed;
  }
  return MonotonicSeconds() - begin;
}

// Once more, over what the repeats left, and every element is looked at.
void CheckGroup(Request* request, Group* group, const std::string& name, Check* check) {
  if (group->gpus == nullptr) {
    return;
  }
  std::vector<double> values(static_cast<size_t>(request->n), -1);
  bool right = !group->failed && request->out->Put(values.data());
  RunGroup(request, group);
  right = right && !group->failed && request->out->Get(values.data());
  double wrong = right ? 0 : 1;
  for (int64_t i = 0; i < request->n && right; ++i) {
    double sum = 0;
    for (const int rank : group->ranks) {
      sum += Input(rank, i);
    }
    wrong += values[static_cast<size_t>(i)] == sum ? 0 : 1;
  }
  check->Hold(name + ": wrong elements", wrong, 0);
}

// Bus bandwidth: what a ring moves on each link, 2 (p - 1) / p of the data.
double BusBytes(size_t ranks, int64_t n) {
  const auto size = static_cast<double>(ranks);
  return 2 * (size - 1) / size * sizeof(double) * static_cast<double>(n);
}

std::vector<Operation> Prepare(Request* request) {
  std::vector<Operation> operations;
  Operation all;
  all.name = "all-reduce";
  all.bytes = BusBytes(request->all.ranks.size(), request->n);
  all.memory_roof = false;
  all.run = [request] { return RunGroup(request, &request->all); };
  all.check = [request](Check* check) { CheckGroup(request, &request->all, "all-reduce", check); };
  operations.push_back(all);
  Operation small;
  small.name = "small";
  small.steps = kSmallInARow;
  small.run = [request] { return RunSmall(request); };
  operations.push_back(small);
  for (size_t round = 0; round < request->rounds.size(); ++round) {
    Group* const group = &request->rounds[round];
    Operation pairs;
    pairs.name = "pairs-" + std::to_string(round + 1);
    pairs.bytes = BusBytes(2, request->n);
    pairs.memory_roof = false;
    pairs.run = [request, group] { return RunGroup(request, group); };
    pairs.check = [request, group, name = pairs.name](Check* check) {
      CheckGroup(request, group, name, check);
    };
    operations.push_back(pairs);
  }
  return operations;
}

// The PCI address of each rank's GPU, on rank 0.
nlohmann::ordered_json GpusJson(const World& world, const Request& request) {
  std::array<char, 32> own{};
  std::snprintf(own.data(), own.size(), "%s", request.in->bus_id().c_str());
  std::vector<char> all(own.size() * static_cast<size_t>(world.size));
  MPI_Gather(own.data(), static_cast<int>(own.size()), MPI_CHAR, all.data(),
             static_cast<int>(own.size()), MPI_CHAR, 0, world.comm);
  nlohmann::ordered_json gpus = nlohmann::ordered_json::array();
  for (size_t rank = 0; world.rank == 0 && rank < static_cast<size_t>(world.size); ++rank) {
    gpus.push_back(std::string(all.data() + rank * own.size()));
  }
  return gpus;
}

// [{"ranks":[0,1],"bandwidth_gb_per_s":…}] of each two, on rank 0: a pair is as fast as the slower.
nlohmann::ordered_json PairsJson(const World& world, const Request& request) {
  std::vector<const Group*> groups;
  for (const Group& group : request.rounds) {
    groups.push_back(&group);
  }
  if (request.pairs && world.size == 2) {
    groups.push_back(&request.all);
  }
  nlohmann::ordered_json pairs = nlohmann::ordered_json::array();
  std::vector<double> all(static_cast<size_t>(world.size));
  for (size_t round = 0; round < groups.size(); ++round) {
    const double mine = groups[round]->best;
    MPI_Gather(&mine, 1, MPI_DOUBLE, all.data(), 1, MPI_DOUBLE, 0, world.comm);
    for (int rank = 0; world.rank == 0 && rank < world.size; ++rank) {
      const int partner =
          world.size == 2 ? 1 - rank : PartnerOf(rank, static_cast<int>(round), world.size);
      const double seconds =
          std::max(all[static_cast<size_t>(rank)], all[static_cast<size_t>(partner)]);
      if (rank < partner && seconds > 0) {
        pairs.push_back({{"ranks", {rank, partner}},
                         {"bandwidth_gb_per_s", BusBytes(2, request.n) / seconds * 1e-9}});
      }
    }
  }
  return pairs;
}

nlohmann::ordered_json Facts(const World& world, const std::vector<Measured>& measured,
                             const Request& request) {
  const auto best = [](const Measured& each) {
    return std::max(Summarise(each.seconds).min, 1e-9);
  };
  nlohmann::ordered_json facts = {
      {"bandwidth_gb_per_s", measured[0].bytes / best(measured[0]) * 1e-9},
      {"latency_us", best(measured[1]) / measured[1].steps * 1e6},
      {"library", (GpusAreAmds() ? "RCCL " : "NCCL ") + GpuCollectivesVersion()},
      {"gpus", GpusJson(world, request)},
      {"pairs", PairsJson(world, request)}};
  return facts;
}

int Run(int argc, char** argv) {
  MpiKernel kernel;
  kernel.name = "nccl";
  kernel.purpose =
      "the sum over the ranks' GPUs, one each, by NCCL or RCCL, and with --pairs over each two of "
      "them,\nall pairs of a round at once. Bus bandwidth: 2 (p - 1) / p of the data over the "
      "time.";
  kernel.example = "muster run -n 2 --gpus-per-task=1 nccl --pairs --json";
  kernel.n_meaning = "doubles in each GPU";
  kernel.n = int64_t{16} << 20;
  kernel.n_max = int64_t{1} << 30;
  kernel.tolerance = "0: sums of whole numbers";
  kernel.bytes_needed = [](int64_t n, int /*ranks*/) { return 8.0 * static_cast<double>(n); };
  auto request = std::make_shared<Request>();
  kernel.add_options = [request](CommandLine* line) {
    line->AddSwitch("pairs", "also each two GPUs by themselves", &request->pairs);
  };
  kernel.begin = [request](const World& world, const BenchOptions& options) {
    return Begin(world, options, request.get());
  };
  kernel.prepare = [request](const World& /*world*/, const BenchOptions& /*options*/) {
    return Prepare(request.get());
  };
  kernel.facts = [request](const World& world, const std::vector<Measured>& measured) {
    return Facts(world, measured, *request);
  };
  return RunMpiKernel(kernel, argc, argv);
}

}  // namespace
}  // namespace muster::kernels

int main(int argc, char** argv) {
  return muster::kernels::Run(argc, argv);
}
