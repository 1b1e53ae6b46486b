#include "agent/kernels/cpu/chase.h"

#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>

#include "agent/kernels/harness/bench.h"
#include "agent/kernels/place/placement.h"
#include "agent/kernels/place/seeded.h"

namespace muster::kernels {
namespace {

constexpr int kMaxCpus = 8192;
constexpr int kMaxNodes = 1024;

// "0-3,8" as numbers; what is no number ends the list.
std::vector<int> ParseList(const std::string& text) {
  std::vector<int> numbers;
  const char* at = text.data();
  const char* end = at + text.size();
  while (at < end) {
    int first = 0;
    auto parsed = std::from_chars(at, end, first);
    if (parsed.ec != std::errc()) {
      break;
    }
    int last = first;
    if (parsed.ptr < end && *parsed.ptr == '-') {
      parsed = std::from_chars(parsed.ptr + 1, end, last);
    }
    for (int number = first; number <= std::min(last, first + kMaxCpus); ++number) {
      numbers.push_back(number);
    }
    at = parsed.ptr + 1;
  }
  return numbers;
}

std::vector<int> ReadList(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return ParseList(line);
}

std::vector<int> OwnCpuList() {
  const std::set<int> own = OwnCpus();
  return {own.begin(), own.end()};
}

void BindTo(const std::vector<int>& cpus) {
  cpu_set_t* mask = cpus.empty() ? nullptr : CPU_ALLOC(kMaxCpus);
  if (mask == nullptr) {
    return;
  }
  const size_t bytes = CPU_ALLOC_SIZE(kMaxCpus);
  CPU_ZERO_S(bytes, mask);
  for (const int cpu : cpus) {
    CPU_SET_S(static_cast<size_t>(cpu), bytes, mask);
  }
  // A CPU that went away meanwhile leaves the thread where it is; the figure tells its place.
  static_cast<void>(sched_setaffinity(0, bytes, mask));
  CPU_FREE(mask);
}

// Asks for the pages of [data, data + bytes) from one node.
bool PlaceOn(void* data, int64_t bytes, int node) {
  std::array<unsigned long, kMaxNodes / (8 * sizeof(unsigned long))> mask{};
  if (node < 0 || node >= kMaxNodes) {
    return false;
  }
  constexpr size_t kBits = 8 * sizeof(unsigned long);
  mask[static_cast<size_t>(node) / kBits] = 1UL << (static_cast<size_t>(node) % kBits);
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(data) + page - 1) / page * page;
  const uintptr_t end =
      (reinterpret_cast<uintptr_t>(data) + static_cast<uintptr_t>(bytes)) / page * page;
  return begin >= end || syscall(SYS_mbind, begin, end - begin, MPOL_BIND, mask.data(),
                                 static_cast<unsigned long>(kMaxNodes), 0U) == 0;
}

}  // namespace

std::vector<NumaNode> NumaNodes(const std::string& root) {
  const std::string folder = root + "/sys/devices/system/node/";
  const std::vector<int> own = OwnCpuList();
  const std::vector<int> with_memory = ReadList(folder + "has_memory");
  std::vector<NumaNode> nodes;
  for (const int id : ReadList(folder + "online")) {
    NumaNode node;
    node.id = id;
    for (const int cpu : ReadList(folder + "node" + std::to_string(id) + "/cpulist")) {
      if (std::find(own.begin(), own.end(), cpu) != own.end()) {
        node.cpus.push_back(cpu);
      }
    }
    node.has_memory = with_memory.empty() ||
                      std::find(with_memory.begin(), with_memory.end(), id) != with_memory.end();
    nodes.push_back(node);
  }
  if (nodes.empty()) {
    nodes.push_back({0, own, true});
  }
  return nodes;
}

Chain::Chain(int64_t lines, int node, uint64_t seed) : lines_(lines) {
  if (!allocated()) {
    return;
  }
  placed_ = PlaceOn(lines_.data(), lines * int64_t{sizeof(ChainLine)}, node);
  // One random cycle (Sattolo 1986): swap each element with an earlier one, never with itself.
  std::vector<int64_t> order(static_cast<size_t>(lines));
  std::iota(order.begin(), order.end(), int64_t{0});
  for (int64_t i = lines - 1; i > 0; --i) {
    const double unit = SeededUnit(seed, static_cast<uint64_t>(i));
    const auto other = std::min(i - 1, static_cast<int64_t>(unit * static_cast<double>(i)));
    std::swap(order[static_cast<size_t>(i)], order[static_cast<size_t>(other)]);
  }
  for (int64_t i = 0; i < lines; ++i) {
    lines_.data()[i].next = lines_.data() + order[static_cast<size_t>(i)];
  }
  at_ = lines_.data();
}

bool Chain::IsOneCycle() const {
  const ChainLine* line = lines_.data();
  for (int64_t i = 1; i < lines_.size(); ++i) {
    line = line->next;
    if (line == lines_.data()) {
      return false;
    }
  }
  return line->next == lines_.data();
}

double Chain::Walk(int64_t steps) {
  ChainLine* line = at_;
  const double begin = MonotonicSeconds();
  for (int64_t i = 0; i < steps; ++i) {
    line = line->next;
  }
  const double seconds = MonotonicSeconds() - begin;
  at_ = line;  // kept: the walk has a result
  return seconds;
}

ScopedBinding::ScopedBinding(const std::vector<int>& cpus) : before_(OwnCpuList()) {
  BindTo(cpus);
}

ScopedBinding::~ScopedBinding() {
  BindTo(before_);
}

}  // namespace muster::kernels
