// allgather: every rank's part to every rank, by a ring and by the library.

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "agent/kernels/harness/check.h"
#include "agent/kernels/harness/memory.h"
#include "agent/kernels/mpi/algorithms.h"
#include "agent/kernels/mpi/world.h"

namespace muster::kernels {
namespace {

using Gather = void (*)(const World&, const double*, double*, int64_t);

struct Method {
  const char* name;
  Gather gather;
};

void Ring(const World& world, const double* own, double* all, int64_t n) {
  RingAllGather(world.comm, own, all, n);
}

void Library(const World& world, const double* own, double* all, int64_t n) {
  MPI_Allgather(own, static_cast<int>(n), MPI_DOUBLE, all, static_cast<int>(n), MPI_DOUBLE,
                world.comm);
}

constexpr Method kMethods[] = {{"ring", Ring}, {"library", Library}};

double Input(int64_t rank, int64_t i) {
  return static_cast<double>(rank * 1000003 + i);
}

struct Buffers {
  Buffers(const World& world, int64_t n) : own(n), all(n * world.size) {
    for (int64_t i = 0; i < n; ++i) {
      own.data()[i] = Input(world.rank, i);
    }
    std::fill(all.data(), all.data() + all.size(), -1);
  }

  Aligned<double> own;
  Aligned<double> all;
};

void CheckOnce(const World& world, const Method& method, int64_t n, Check* check) {
  Buffers buffers(world, n);
  method.gather(world, buffers.own.data(), buffers.all.data(), n);
  double worst = 0;
  for (int64_t rank = 0; rank < world.size; ++rank) {
    for (int64_t i = 0; i < n; ++i) {
      worst = std::max(worst, ErrorOf(buffers.all.data()[rank * n + i], Input(rank, i)));
    }
  }
  check->Hold(std::string(method.name) + " of " + std::to_string(n), worst, 0);
}

std::vector<Operation> Prepare(const World& world, const BenchOptions& options) {
  const int64_t n = options.n;
  auto buffers = std::make_shared<Buffers>(world, n);
  std::vector<Operation> operations;
  for (const Method& method : kMethods) {
    Operation operation;
    operation.name = method.name;
    operation.bytes = (world.size - 1.0) * sizeof(double) * static_cast<double>(n);
    operation.run = [world, &method, buffers, n] {
      const double begin = MonotonicSeconds();
      method.gather(world, buffers->own.data(), buffers->all.data(), n);
      return MonotonicSeconds() - begin;
    };
    operation.check = [world, &method, n](Check* check) { CheckOnce(world, method, n, check); };
    operations.push_back(operation);
  }
  return operations;
}

int Run(int argc, char** argv) {
  MpiKernel kernel;
  kernel.name = "allgather";
  kernel.purpose =
      "every rank's part to every rank, by a ring and by the library. Bytes: what a rank "
      "receives.";
  kernel.example = "muster run -n 4 allgather --n 256K --json";
  kernel.n_meaning = "doubles that each rank gives";
  kernel.n = int64_t{64} << 10;
  kernel.n_max = int64_t{1} << 30;
  kernel.tolerance = "0: every element arrives";
  kernel.bytes_needed = [](int64_t n, int ranks) {
    return 8.0 * static_cast<double>(n) * (ranks + 1.0);
  };
  kernel.prepare = Prepare;
  kernel.verify = [](const World& world, uint64_t /*seed*/, Check* check) {
    for (const Method& method : kMethods) {
      for (const int64_t n : {1, 2, 3, 7, 8, 63, 1000, 4097}) {
        CheckOnce(world, method, n, check);
      }
    }
  };
  return RunMpiKernel(kernel, argc, argv);
}

}  // namespace
}  // namespace muster::kernels

int main(int argc, char** argv) {
  return muster::kernels::Run(argc, argv);
}
