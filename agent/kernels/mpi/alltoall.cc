// alltoall: a part of every rank for every rank, by pairs and by the library.

#include "agent/kernels/mpi/algorithms.h"
#include "agent/kernels/mpi/exchange.h"
#include "agent/kernels/mpi/world.h"

namespace muster::kernels {
namespace {

void Pairwise(const World& world, const double* in, double* out, int64_t n) {
  PairwiseAllToAll(world.comm, in, out, n);
}

void Library(const World& world, const double* in, double* out, int64_t n) {
  MPI_Alltoall(in, static_cast<int>(n), MPI_DOUBLE, out, static_cast<int>(n), MPI_DOUBLE,
               world.comm);
}

double Input(int64_t from, int64_t to, int64_t i) {
  return static_cast<double>((from * 1009 + to) * 1000003 + i);
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
  UseExchange({{{"pairwise", Pairwise}, {"library", Library}}, true, Input}, &kernel);
  return RunMpiKernel(kernel, argc, argv);
}

}  // namespace
}  // namespace muster::kernels

int main(int argc, char** argv) {
  return muster::kernels::Run(argc, argv);
}
