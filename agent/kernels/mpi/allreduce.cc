// allreduce: the sum over all ranks by a ring, by recursive doubling, by the library, and behind
// computation.

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "agent/kernels/harness/check.h"
#include "agent/kernels/mpi/algorithms.h"
#include "agent/kernels/mpi/device_memory.h"
#include "agent/kernels/mpi/world.h"
#include "agent/kernels/place/memory.h"

namespace muster::kernels {
namespace {

using Reduce = std::function<void(const World&, double*, int64_t)>;

// Whole numbers: their sum is exact in any order.
double Input(int rank, int64_t i) {
  return static_cast<double>((i * 31 + int64_t{rank} * 7) % 1001) - 500;
}

double Expected(int ranks, int64_t i) {
  double sum = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    sum += Input(rank, i);
  }
  return sum;
}

void Fill(const World& world, double* data, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    data[i] = Input(world.rank, i);
  }
}

void CheckOnce(const World& world, const std::string& name, const Reduce& reduce, int64_t n,
               Check* check) {
  Aligned<double> data(n);
  Fill(world, data.data(), n);
  reduce(world, data.data(), n);
  double worst = 0;
  for (int64_t i = 0; i < n; ++i) {
    worst = std::max(worst, ErrorOf(data.data()[i], Expected(world.size, i)));
  }
  check->Hold(name + " of " + std::to_string(n), worst, 0);
}

void Library(const World& world, double* data, int64_t n) {
  MPI_Allreduce(MPI_IN_PLACE, data, static_cast<int>(n), MPI_DOUBLE, MPI_SUM, world.comm);
}

struct Method {
  const char* name;
  Reduce reduce;
};

std::vector<Method> Methods() {
  return {
      {"ring",
       [](const World& world, double* data, int64_t n) { RingAllReduce(world.comm, data, n); }},
      {"recursive-doubling", [](const World& world, double* data,
                                int64_t n) { RecursiveDoublingAllReduce(world.comm, data, n); }},
      {"library", Library}};
}

Operation MethodOperation(const World& world, const Method& method,
                          const std::shared_ptr<Aligned<double>>& data) {
  const int64_t n = data->size();
  Operation operation;
  operation.name = method.name;
  // Bus bandwidth: what a ring moves, 2 (p - 1) / p of the data, whatever the method does.
  operation.bytes = 2.0 * (world.size - 1) / world.size * sizeof(double) * static_cast<double>(n);
  operation.flop = static_cast<double>(n) * (world.size - 1) / world.size;
  operation.run = [world, method, data, n] {
    Fill(world, data->data(), n);  // a sum of sums would overflow in the end
    MPI_Barrier(world.comm);
    const double begin = MonotonicSeconds();
    method.reduce(world, data->data(), n);
    return MonotonicSeconds() - begin;
  };
  operation.check = [world, method, n](Check* check) {
    CheckOnce(world, method.name, method.reduce, n, check);
  };
  return operation;
}

// Work that needs no memory: rounds of a square root, with a test for the reduction's progress in
// between, as MPI asks for.
double Compute(int64_t rounds, MPI_Request* request) {
  double value = 2;
  for (int64_t i = 0; i < rounds; ++i) {
    for (int j = 0; j < 1000; ++j) {
      value = std::sqrt(value + 1);
    }
    int done = 0;
    if (request != nullptr) {
      MPI_Test(request, &done, MPI_STATUS_IGNORE);
    }
  }
  return value;
}

// About as long as the reduction takes: what a good overlap can hide wholly. The same on all ranks.
int64_t RoundsAsLongAs(const World& world, double seconds) {
  const double begin = MonotonicSeconds();
  volatile double sink = Compute(50, nullptr);
  static_cast<void>(sink);
  const double one = (MonotonicSeconds() - begin) / 50;
  double rounds = std::max(1.0, seconds / std::max(one, 1e-9));
  MPI_Bcast(&rounds, 1, MPI_DOUBLE, 0, world.comm);
  return static_cast<int64_t>(std::min(rounds, 1e6));
}

struct Overlap {
  std::shared_ptr<Aligned<double>> data;
  int64_t rounds = 1;
  double sink = 0;
};

double RunBehind(const World& world, Overlap* overlap, bool communicate) {
  Aligned<double>& data = *overlap->data;
  Fill(world, data.data(), data.size());
  MPI_Barrier(world.comm);
  const double begin = MonotonicSeconds();
  if (!communicate) {
    overlap->sink += Compute(overlap->rounds, nullptr);
    return MonotonicSeconds() - begin;
  }
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(MPI_IN_PLACE, data.data(), static_cast<int>(data.size()), MPI_DOUBLE, MPI_SUM,
                 world.comm, &request);
  overlap->sink += Compute(overlap->rounds, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return MonotonicSeconds() - begin;
}

void AddOverlap(const World& world, const std::shared_ptr<Aligned<double>>& data,
                std::vector<Operation>* operations) {
  auto overlap = std::make_shared<Overlap>();
  overlap->data = data;
  const double alone = operations->back().run();
  overlap->rounds = RoundsAsLongAs(world, alone);
  for (const bool communicate : {false, true}) {
    Operation operation;
    operation.name = communicate ? "behind-computation" : "computation-alone";
    operation.run = [world, overlap, communicate] {
      return RunBehind(world, overlap.get(), communicate);
    };
    if (communicate) {
      operation.check = [world, overlap](Check* check) {
        const Reduce reduce = [overlap](const World& of, double* out, int64_t n) {
          RunBehind(of, overlap.get(), true);
          std::copy(overlap->data->data(), overlap->data->data() + n, out);
        };
        CheckOnce(world, "behind-computation", reduce, overlap->data->size(), check);
      };
    }
    operations->push_back(operation);
  }
}

// The library's reduction where the data lies in GPUs, if it says that it can. One that says so
// and copies wrong bytes does it silently, so every repeat's result is looked at.
struct OnGpus {
  std::unique_ptr<DeviceBuffer> device;
  double wrong = 0;  // elements, in all repeats
};

// Why the operation is left out, the same on all ranks; empty when it is there.
std::string AddOnGpus(const World& world, const Operation& library,
                      const std::shared_ptr<Aligned<double>>& data,
                      std::vector<Operation>* operations) {
  auto state = std::make_shared<OnGpus>();
  std::string why_not = WhyNotGpuAware();
  if (why_not.empty()) {
    state->device = DeviceBuffer::Make(world.rank, data->size(), &why_not);
  }
  int able = why_not.empty() ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &able, 1, MPI_INT, MPI_MIN, world.comm);
  if (able == 0) {
    return why_not.empty() ? "another rank has no GPU" : why_not;
  }
  Operation operation = library;
  operation.name = "library-on-gpus";
  operation.run = [world, data, state] {
    Fill(world, data->data(), data->size());
    const bool put = state->device->Put(data->data());
    MPI_Barrier(world.comm);
    const double begin = MonotonicSeconds();
    MPI_Allreduce(MPI_IN_PLACE, state->device->data(), static_cast<int>(data->size()), MPI_DOUBLE,
                  MPI_SUM, world.comm);
    const double seconds = MonotonicSeconds() - begin;
    const bool got = state->device->Get(data->data());
    for (int64_t i = 0; i < data->size(); ++i) {
      const bool right = put && got && data->data()[i] == Expected(world.size, i);
      state->wrong += right ? 0 : 1;
    }
    return seconds;
  };
  operation.check = [state](Check* check) {
    check->Hold("library-on-gpus: wrong elements", state->wrong, 0);
  };
  operations->push_back(operation);
  return "";
}

std::vector<Operation> Prepare(const World& world, const BenchOptions& options,
                               std::string* why_not_on_gpus) {
  auto data = std::make_shared<Aligned<double>>(options.n);
  std::vector<Operation> operations;
  for (const Method& method : Methods()) {
    operations.push_back(MethodOperation(world, method, data));
  }
  const Operation library = operations.back();
  AddOverlap(world, data, &operations);
  *why_not_on_gpus = AddOnGpus(world, library, data, &operations);
  return operations;
}

double MedianOf(const std::vector<Measured>& measured, const std::string& name) {
  for (const Measured& each : measured) {
    if (each.name == name) {
      return Summarise(each.seconds).median;
    }
  }
  return 0;
}

// 1: the reduction costs nothing beside the computation (or the other way round); 0: both one after
// the other.
nlohmann::ordered_json Facts(const std::vector<Measured>& measured, const std::string& why_not) {
  const double communication = MedianOf(measured, "library");
  const double computation = MedianOf(measured, "computation-alone");
  const double both = MedianOf(measured, "behind-computation");
  const double hidden = communication + computation - both;
  const double most = std::max(std::min(communication, computation), 1e-9);
  return {{"overlap_share", std::clamp(hidden / most, 0.0, 1.0)},
          {"gpu_aware", why_not.empty()},
          {"why_not_gpu_aware", why_not}};
}

int Run(int argc, char** argv) {
  MpiKernel kernel;
  kernel.name = "allreduce";
  kernel.purpose =
      "the sum over all ranks, by a ring, by recursive doubling, by the library (from "
      "GPUs, too, where it\nsays that it can), and during computation. Bus bandwidth: 2 (p - 1) / "
      "p of the data over "
      "the time.";
  kernel.example = "muster run -n 4 allreduce --n 1M --json";
  kernel.n_meaning = "doubles on each rank";
  kernel.n = int64_t{256} << 10;
  kernel.n_max = int64_t{1} << 30;
  kernel.tolerance = "0: sums of whole numbers";
  kernel.bytes_needed = [](int64_t n, int /*ranks*/) { return 32.0 * static_cast<double>(n); };
  auto why_not = std::make_shared<std::string>();
  kernel.prepare = [why_not](const World& world, const BenchOptions& options) {
    return Prepare(world, options, why_not.get());
  };
  kernel.verify = [](const World& world, uint64_t /*seed*/, Check* check) {
    for (const Method& method : Methods()) {
      for (const int64_t n : {1, 2, 3, 5, 7, 8, 63, 64, 1000, 4097, 65537}) {
        CheckOnce(world, method.name, method.reduce, n, check);
      }
    }
  };
  kernel.facts = [why_not](const World&, const std::vector<Measured>& measured) {
    return Facts(measured, *why_not);
  };
  return RunMpiKernel(kernel, argc, argv);
}

}  // namespace
}  // namespace muster::kernels

int main(int argc, char** argv) {
  return muster::kernels::Run(argc, argv);
}
