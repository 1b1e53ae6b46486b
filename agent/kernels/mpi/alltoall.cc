// alltoall: a part of every rank for every rank, by pairs and by the library.

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

using Exchange = void (*)(const World&, const double*, double*, int64_t);

struct Method {
  const char* name;
  Exchange exchange;
};

void Pairwise(const World& world, const double* in, double* out, int64_t n) {
  PairwiseAllToAll(world.comm, in, out, n);
}

void Library(const World& world, const double* in, double* out, int64_t n) {
  MPI_Alltoall(in, static_cast<int>(n), MPI_DOUBLE, out, static_cast<int>(n), MPI_DOUBLE,
               world.comm);
}

constexpr Method kMethods[] = {{"pairwise", Pairwise}, {"library", Library}};

double Input(int64_t from, int64_t to, int64_t i) {
  return static_cast<double>((from * 1009 + to) * 1000003 + i);
}

struct Buffers {
  Buffers(const World& world, int64_t n) : in(n * world.size), out(n * world.size) {
    for (int64_t to = 0; to < world.size; ++to) {
      for (int64_t i = 0; i < n; ++i) {
        in.data()[to * n + i] = Input(world.rank, to, i);
      }
    }
    std::fill(out.data(), out.data() + out.size(), -1);
  }

  Aligned<double> in;
  Aligned<double> out;
};

void CheckOnce(const World& world, const Method& method, int64_t n, Check* check) {
  Buffers buffers(world, n);
  method.exchange(world, buffers.in.data(), buffers.out.data(), n);
  double worst = 0;
  for (int64_t from = 0; from < world.size; ++from) {
    for (int64_t i = 0; i < n; ++i) {
      worst =
          std::max(worst, ErrorOf(buffers.out.data()[from * n + i], Input(from, world.rank, i)));
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
      method.exchange(world, buffers->in.data(), buffers->out.data(), n);
      return MonotonicSeconds() - begin;
    };
    operation.check = [world, &method, n](Check* check) { CheckOnce(world, method, n, check); };
    operations.push_back(operation);
  }
  return operations;
}

int Run(int argc, char** argv) {
  MpiKernel kernel;
  kernel.name = "alltoall";
  kernel.purpose =
      "a part of every rank for every rank, by exchanges of pairs and by the library. "
      "Bytes: what\na rank receives.";
  kernel.example = "muster run -n 4 alltoall --n 64K --json";
  kernel.n_meaning = "doubles from each rank to each";
  kernel.n = int64_t{32} << 10;
  kernel.n_max = int64_t{1} << 30;
  kernel.tolerance = "0: every element arrives";
  kernel.bytes_needed = [](int64_t n, int ranks) { return 16.0 * static_cast<double>(n) * ranks; };
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
