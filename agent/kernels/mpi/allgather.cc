// allgather: every rank's part to every rank, by a ring and by the library.

#include "agent/kernels/mpi/algorithms.h"
#include "agent/kernels/mpi/exchange.h"
#include "agent/kernels/mpi/world.h"

namespace muster::kernels {
namespace {

void Ring(const World& world, const double* own, double* all, int64_t n) {
  RingAllGather(world.comm, own, all, n);
}

void Library(const World& world, const double* own, double* all, int64_t n) {
  MPI_Allgather(own, static_cast<int>(n), MPI_DOUBLE, all, static_cast<int>(n), MPI_DOUBLE,
                world.comm);
}

double Input(int64_t from, int64_t /*to*/, int64_t i) {
  return static_cast<double>(from * 1000003 + i);
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
  UseExchange({{{"ring", Ring}, {"library", Library}}, false, Input}, &kernel);
  return RunMpiKernel(kernel, argc, argv);
}

}  // namespace
}  // namespace muster::kernels

int main(int argc, char** argv) {
  return muster::kernels::Run(argc, argv);
}
