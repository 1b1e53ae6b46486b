// pingpong: latency and bandwidth of messages between the first and the last rank.

#include <algorithm>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "agent/kernels/mpi/world.h"
#include "agent/kernels/place/seeded.h"

namespace muster::kernels {
namespace {

constexpr int kTag = 5;

std::vector<unsigned char> Pattern(uint64_t seed, int64_t bytes) {
  std::vector<unsigned char> pattern(static_cast<size_t>(bytes));
  for (size_t i = 0; i < pattern.size(); ++i) {
    pattern[i] = static_cast<unsigned char>(SeededUnit(seed, i) * 256);
  }
  return pattern;
}

// The two ends send `data` to and fro; the others wait at the next barrier.
void Exchange(const World& world, unsigned char* data, int64_t bytes, int64_t rounds) {
  const int count = static_cast<int>(bytes);
  const int last = world.size - 1;
  for (int64_t round = 0; round < rounds; ++round) {
    if (world.rank == 0) {
      MPI_Send(data, count, MPI_BYTE, last, kTag, world.comm);
      MPI_Recv(data, count, MPI_BYTE, last, kTag, world.comm, MPI_STATUS_IGNORE);
    } else if (world.rank == last) {
      MPI_Recv(data, count, MPI_BYTE, 0, kTag, world.comm, MPI_STATUS_IGNORE);
      MPI_Send(data, count, MPI_BYTE, 0, kTag, world.comm);
    }
  }
}

// The first rank's bytes go to the last one's empty buffer and come back.
void CheckSize(const World& world, int64_t bytes, uint64_t seed, Check* check) {
  const std::vector<unsigned char> pattern = Pattern(seed, bytes);
  std::vector<unsigned char> data(pattern.size(), 0);
  if (world.rank == 0) {
    data = pattern;
  }
  Exchange(world, data.data(), bytes, 1);
  const bool taker = world.rank == 0 || world.rank == world.size - 1;
  check->Hold("message of " + std::to_string(bytes) + " bytes", taker && data != pattern ? 1 : 0,
              0);
}

Operation SizeOperation(const World& world, int64_t bytes, uint64_t seed) {
  // Many small messages a repeat, so that the clock's tick is nothing.
  const int64_t rounds =
      std::clamp<int64_t>((int64_t{8} << 20) / std::max<int64_t>(bytes, 1), 4, 500);
  auto data = std::make_shared<std::vector<unsigned char>>(Pattern(seed, bytes));
  Operation operation;
  operation.name = BytesText(static_cast<double>(bytes));
  operation.steps = 2.0 * static_cast<double>(rounds);  // one way each
  operation.bytes = 2.0 * static_cast<double>(rounds * bytes);
  operation.run = [world, data, bytes, rounds] {
    const double begin = MonotonicSeconds();
    Exchange(world, data->data(), bytes, rounds);
    return MonotonicSeconds() - begin;
  };
  operation.check = [world, bytes, seed](Check* check) { CheckSize(world, bytes, seed, check); };
  return operation;
}

std::vector<Operation> Prepare(const World& world, const BenchOptions& options) {
  std::vector<Operation> operations;
  for (int64_t bytes = 0; bytes < options.n; bytes = bytes == 0 ? 8 : bytes * 8) {
    operations.push_back(SizeOperation(world, bytes, static_cast<uint64_t>(options.seed)));
  }
  operations.push_back(SizeOperation(world, options.n, static_cast<uint64_t>(options.seed)));
  return operations;
}

nlohmann::ordered_json Facts(const World& /*world*/, const std::vector<Measured>& measured) {
  double best_rate = 0;
  for (const Measured& each : measured) {
    best_rate = std::max(best_rate, each.bytes / std::max(Summarise(each.seconds).min, 1e-9));
  }
  const double latency = Summarise(measured.front().seconds).min / measured.front().steps;
  return {{"latency_us", latency * 1e6}, {"bandwidth_gb_per_s", best_rate * 1e-9}};
}

int Run(int argc, char** argv) {
  MpiKernel kernel;
  kernel.name = "pingpong";
  kernel.purpose =
      "messages to and fro between the first and the last rank, from nothing up to --n "
      "bytes:\na step is one way.";
  kernel.example = "muster run -n 2 pingpong --n 4M --json";
  kernel.n_meaning = "bytes of the largest message";
  kernel.n = int64_t{4} << 20;
  kernel.n_max = int64_t{1} << 30;
  kernel.tolerance = "0: every byte arrives";
  kernel.bytes_needed = [](int64_t n, int /*ranks*/) { return 2.5 * static_cast<double>(n); };
  kernel.prepare = Prepare;
  kernel.verify = [](const World& world, uint64_t seed, Check* check) {
    for (const int64_t bytes : {0, 1, 2, 3, 7, 4095, 4096, 4097, 65537, 1000003}) {
      CheckSize(world, bytes, seed, check);
    }
  };
  kernel.facts = Facts;
  return RunMpiKernel(kernel, argc, argv);
}

}  // namespace
}  // namespace muster::kernels

int main(int argc, char** argv) {
  return muster::kernels::Run(argc, argv);
}
