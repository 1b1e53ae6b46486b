#include "agent/kernels/mpi/exchange.h"

#include <algorithm>
#include <memory>
#include <string>

#include "agent/kernels/harness/check.h"
#include "agent/kernels/place/memory.h"

namespace muster::kernels {
namespace {

struct Buffers {
  Buffers(const World& world, const Exchange& exchange, int64_t n)
      : in(n * PartsGiven(world, exchange)), out(n * world.size) {
    for (int64_t to = 0; to < PartsGiven(world, exchange); ++to) {
      for (int64_t i = 0; i < n; ++i) {
        in.data()[to * n + i] = exchange.input(world.rank, to, i);
      }
    }
    std::fill(out.data(), out.data() + out.size(), -1);
  }

  static int64_t PartsGiven(const World& world, const Exchange& exchange) {
    return exchange.to_each ? world.size : 1;
  }

  Aligned<double> in;
  Aligned<double> out;
};

void CheckOnce(const World& world, const Exchange& exchange, const ExchangeMethod& method,
               int64_t n, Check* check) {
  Buffers buffers(world, exchange, n);
  method.exchange(world, buffers.in.data(), buffers.out.data(), n);
  const int64_t own = exchange.to_each ? world.rank : 0;
  double worst = 0;
  for (int64_t from = 0; from < world.size; ++from) {
    for (int64_t i = 0; i < n; ++i) {
      worst =
          std::max(worst, ErrorOf(buffers.out.data()[from * n + i], exchange.input(from, own, i)));
    }
  }
  check->Hold(std::string(method.name) + " of " + std::to_string(n), worst, 0);
}

std::vector<Operation> Prepare(const World& world, const Exchange& exchange, int64_t n) {
  auto buffers = std::make_shared<Buffers>(world, exchange, n);
  std::vector<Operation> operations;
  for (const ExchangeMethod& method : exchange.methods) {
    Operation operation;
    operation.name = method.name;
    operation.bytes = (world.size - 1.0) * sizeof(double) * static_cast<double>(n);
    operation.run = [world, method, buffers, n] {
      const double begin = MonotonicSeconds();
      method.exchange(world, buffers->in.data(), buffers->out.data(), n);
      return MonotonicSeconds() - begin;
    };
    operation.check = [world, exchange, method, n](Check* check) {
      CheckOnce(world, exchange, method, n, check);
    };
    operations.push_back(operation);
  }
  return operations;
}

}  // namespace

void UseExchange(const Exchange& exchange, MpiKernel* kernel) {
  kernel->prepare = [exchange](const World& world, const BenchOptions& options) {
    return Prepare(world, exchange, options.n);
  };
  kernel->verify = [exchange](const World& world, uint64_t /*seed*/, Check* check) {
    for (const ExchangeMethod& method : exchange.methods) {
      for (const int64_t n : {1, 2, 3, 7, 8, 63, 1000, 4097}) {
        CheckOnce(world, exchange, method, n, check);
      }
    }
  };
}

}  // namespace muster::kernels
