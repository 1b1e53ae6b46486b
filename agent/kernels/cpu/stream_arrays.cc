#include "agent/kernels/cpu/stream_arrays.h"

#include <omp.h>

#include <algorithm>
#include <limits>
#include <map>

#include "agent/kernels/harness/bench.h"
#include "agent/kernels/harness/check.h"
#include "agent/kernels/harness/node_facts.h"
#include "agent/kernels/place/partition.h"
#include "agent/kernels/place/seeded.h"

namespace muster::kernels {
namespace {

constexpr int64_t kLineElements = kAlignment / static_cast<int64_t>(sizeof(double));

double ValueOfB(uint64_t seed, int64_t i) {
  return SeededUnit(seed, 2 * static_cast<uint64_t>(i));
}

double ValueOfC(uint64_t seed, int64_t i) {
  return SeededUnit(seed, 2 * static_cast<uint64_t>(i) + 1);
}

// The part of the calling thread of the current team.
IndexRange OwnRange(int64_t n) {
  return BlockRange(n, omp_get_num_threads(), omp_get_thread_num(), kLineElements);
}

struct Output {
  double* data;
  int64_t size;
  Stores stores;
};

void RunLoop(StreamOperation operation, double s, const double* b, const double* c, Output out) {
  switch (operation) {
    case StreamOperation::kCopy:
      return CopyLoop(b, out.data, out.size, out.stores);
    case StreamOperation::kScale:
      return ScaleLoop(s, b, out.data, out.size, out.stores);
    case StreamOperation::kAdd:
      return AddLoop(b, c, out.data, out.size, out.stores);
    case StreamOperation::kTriad:
      return TriadLoop(b, s, c, out.data, out.size, out.stores);
  }
}

}  // namespace

double Elapsed(std::span<const ThreadSample> samples) {
  double begin = samples.front().begin;
  double end = samples.front().end;
  for (const ThreadSample& sample : samples) {
    begin = std::min(begin, sample.begin);
    end = std::max(end, sample.end);
  }
  return end - begin;
}

double TotalRate(std::span<const ThreadSample> samples, int64_t bytes_per_element) {
  int64_t elements = 0;
  for (const ThreadSample& sample : samples) {
    elements += sample.elements;
  }
  // A clock tick of a nanosecond bounds the rate of arrays too small to time.
  const double seconds = std::max(Elapsed(samples), 1e-9);
  return static_cast<double>(elements * bytes_per_element) / seconds * 1e-9;
}

std::vector<NodeRate> NodeRates(std::span<const ThreadSample> samples, int64_t bytes_per_element) {
  std::map<int, std::vector<ThreadSample>> by_node;
  for (const ThreadSample& sample : samples) {
    by_node[sample.after.node].push_back(sample);
  }
  std::vector<NodeRate> rates;
  rates.reserve(by_node.size());
  for (const auto& [node, threads] : by_node) {
    rates.push_back(
        {node, static_cast<int>(threads.size()), TotalRate(threads, bytes_per_element)});
  }
  return rates;
}

StreamArrays::StreamArrays(int64_t n, uint64_t seed)
    : n_(n),
      seed_(seed),
      stores_(n * kStreamBytesPerElement > LastLevelCacheBytes() ? Stores::kStreaming
                                                                 : Stores::kOrdinary),
      a_(n),
      b_(n),
      c_(n) {
  if (allocated()) {
    FirstTouch();
  }
}

bool StreamArrays::allocated() const {
  return a_.data() != nullptr && b_.data() != nullptr && c_.data() != nullptr;
}

void StreamArrays::FirstTouch() {
#pragma omp parallel default(none)
  {
    const IndexRange own = OwnRange(n_);
    for (int64_t i = own.begin; i < own.end; ++i) {
      a_.data()[i] = std::numeric_limits<double>::quiet_NaN();
      b_.data()[i] = ValueOfB(seed_, i);
      c_.data()[i] = ValueOfC(seed_, i);
    }
  }
}

std::vector<ThreadSample> StreamArrays::Run(StreamOperation operation, double s) {
  std::vector<ThreadSample> samples(static_cast<size_t>(omp_get_max_threads()));
  int team = 0;
#pragma omp parallel default(none) shared(samples, team, s, operation)
  {
    const IndexRange own = OwnRange(n_);
    ThreadSample sample;
    sample.elements = own.size();
    sample.before = CurrentPlace();
#pragma omp barrier
    sample.begin = MonotonicSeconds();
    RunLoop(operation, s, b_.data() + own.begin, c_.data() + own.begin,
            {a_.data() + own.begin, own.size(), stores_});
    sample.end = MonotonicSeconds();
    sample.after = CurrentPlace();
    samples[static_cast<size_t>(omp_get_thread_num())] = sample;
#pragma omp single
    team = omp_get_num_threads();
  }
  samples.resize(static_cast<size_t>(team));
  // A thread without elements moved no bytes and says nothing about its node.
  std::erase_if(samples, [](const ThreadSample& sample) { return sample.elements == 0; });
  return samples;
}

double StreamArrays::Expected(StreamOperation operation, double s, int64_t i) const {
  switch (operation) {
    case StreamOperation::kCopy:
      return ValueOfB(seed_, i);
    case StreamOperation::kScale:
      return s * ValueOfB(seed_, i);
    case StreamOperation::kAdd:
      return ValueOfB(seed_, i) + ValueOfC(seed_, i);
    case StreamOperation::kTriad:
      return ValueOfB(seed_, i) + s * ValueOfC(seed_, i);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

double StreamArrays::MaxError(StreamOperation operation, double s) const {
  double worst = 0;
#pragma omp parallel default(none) shared(operation, s) reduction(max : worst)
  {
    const IndexRange own = OwnRange(n_);
    for (int64_t i = own.begin; i < own.end; ++i) {
      worst = std::max(worst, ErrorOf(a_.data()[i], Expected(operation, s, i)));
    }
  }
  return worst;
}

}  // namespace muster::kernels
