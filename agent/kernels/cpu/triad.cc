#include "agent/kernels/cpu/triad.h"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "agent/kernels/harness/bench.h"
#include "agent/kernels/harness/partition.h"
#include "agent/kernels/harness/seeded.h"

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

}  // namespace

void TriadLoop(double* __restrict a, const double* __restrict b, const double* __restrict c,
               double s, int64_t n) {
  auto* out = static_cast<double*>(__builtin_assume_aligned(a, kAlignment));
  const auto* left = static_cast<const double*>(__builtin_assume_aligned(b, kAlignment));
  const auto* right = static_cast<const double*>(__builtin_assume_aligned(c, kAlignment));
  for (int64_t i = 0; i < n; ++i) {
    out[i] = left[i] + s * right[i];
  }
}

double Elapsed(std::span<const ThreadSample> samples) {
  double begin = samples.front().begin;
  double end = samples.front().end;
  for (const ThreadSample& sample : samples) {
    begin = std::min(begin, sample.begin);
    end = std::max(end, sample.end);
  }
  return end - begin;
}

double TotalRate(std::span<const ThreadSample> samples) {
  int64_t elements = 0;
  for (const ThreadSample& sample : samples) {
    elements += sample.elements;
  }
  // A clock tick of a nanosecond bounds the rate of arrays too small to time.
  const double seconds = std::max(Elapsed(samples), 1e-9);
  return static_cast<double>(elements * kTriadBytesPerElement) / seconds * 1e-9;
}

std::vector<NodeRate> NodeRates(std::span<const ThreadSample> samples) {
  std::map<int, std::vector<ThreadSample>> by_node;
  for (const ThreadSample& sample : samples) {
    by_node[sample.after.node].push_back(sample);
  }
  std::vector<NodeRate> rates;
  rates.reserve(by_node.size());
  for (const auto& [node, threads] : by_node) {
    rates.push_back({node, static_cast<int>(threads.size()), TotalRate(threads)});
  }
  return rates;
}

Triad::Triad(int64_t n, uint64_t seed) : n_(n), seed_(seed), a_(n), b_(n), c_(n) {
  if (allocated()) {
    FirstTouch();
  }
}

bool Triad::allocated() const {
  return a_.data() != nullptr && b_.data() != nullptr && c_.data() != nullptr;
}

void Triad::FirstTouch() {
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

std::vector<ThreadSample> Triad::Run(double s) {
  std::vector<ThreadSample> samples(static_cast<size_t>(omp_get_max_threads()));
  int team = 0;
#pragma omp parallel default(none) shared(samples, team, s)
  {
    const IndexRange own = OwnRange(n_);
    ThreadSample sample;
    sample.elements = own.size();
    sample.before = CurrentPlace();
#pragma omp barrier
    sample.begin = MonotonicSeconds();
    TriadLoop(a_.data() + own.begin, b_.data() + own.begin, c_.data() + own.begin, s, own.size());
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

double Triad::MaxError(double s) const {
  double worst = 0;
#pragma omp parallel default(none) shared(s) reduction(max : worst)
  {
    const IndexRange own = OwnRange(n_);
    for (int64_t i = own.begin; i < own.end; ++i) {
      const double error = std::abs(a_.data()[i] - (ValueOfB(seed_, i) + s * ValueOfC(seed_, i)));
      // A NaN compares false: an element that was never written counts as infinitely wrong.
      worst = error >= 0 ? std::max(worst, error) : std::numeric_limits<double>::infinity();
    }
  }
  return worst;
}

}  // namespace muster::kernels
