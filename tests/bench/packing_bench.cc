// GPU fragmentation: how much of the openb cluster each policy gives away, beside the published
// figures (Weng et al., "Beware of Fragmentation", USENIX ATC 2023, default trace, mean of 10
// seeds).
//
//   packing_bench NODES.csv PODS.csv [SEEDS]

#include <cstdio>
#include <cstdlib>
#include <map>

#include "tests/bench/packing_tables.h"

namespace {

constexpr int kLoads[] = {80, 90, 95, 100, 110, 120, 130};

struct Published {
  const char* name;
  double percent[7];
};

constexpr Published kPublished[] = {
    {"random", {78.66, 85.02, 85.72, 86.30, 86.88, 87.28, 87.47}},
    {"DotProd", {80.02, 89.98, 90.58, 90.62, 90.70, 90.77, 90.85}},
    {"GpuClustering", {80.02, 89.98, 91.61, 91.65, 91.73, 91.80, 91.88}},
    {"GpuPacking", {80.02, 89.98, 91.74, 91.78, 91.86, 91.92, 92.00}},
    {"bestfit", {80.02, 89.99, 92.82, 92.86, 92.94, 93.00, 93.08}},
    {"fgd", {80.02, 89.98, 94.91, 95.23, 95.30, 95.35, 95.39}}};

void Print(const char* name, const char* of, const double* percent) {
  std::printf("%-14s %-10s", name, of);
  for (int i = 0; i < 7; ++i) {
    std::printf(" %7.2f", percent[i]);
  }
  std::printf(" %9.2f\n", 100 - percent[6]);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4) {
    std::fprintf(stderr, "usage: packing_bench NODES.csv PODS.csv [SEEDS]\n");
    return 2;
  }
  const auto cluster = muster::bench::ReadPackingCluster(argv[1], argv[2]);
  if (!cluster.ok()) {
    std::fprintf(stderr, "packing_bench: %s\n", std::string(cluster.status().message()).c_str());
    return 1;
  }
  const int seeds = argc > 3 ? std::atoi(argv[3]) : 10;
  if (seeds < 1) {
    std::fprintf(stderr, "packing_bench: SEEDS: a number from 1 on\n");
    return 2;
  }
  std::printf("GPUs allocated in per cent at arrived load, mean of %d seeds\n%-25s", seeds, "");
  for (const int load : kLoads) {
    std::printf(" %6d%%", load);
  }
  std::printf("  unalloc.\n");
  for (const Published& row : kPublished) {
    Print(row.name, "published", row.percent);
  }
  for (const char* name : {"random", "bestfit", "fgd", "muster"}) {
    double mean[7] = {};
    for (int seed = 0; seed < seeds; ++seed) {
      const std::map<std::uint32_t, double> by_load = muster::bench::AllocatedByLoad(
          *cluster, *muster::bench::PackingPolicyOf(name), static_cast<std::uint64_t>(42 + seed));
      for (int i = 0; i < 7; ++i) {
        const auto at = by_load.find(static_cast<std::uint32_t>(kLoads[i]));
        mean[i] += (at == by_load.end() ? 0 : at->second) / seeds;
      }
    }
    Print(name, "here", mean);
    std::fflush(stdout);
  }
  return 0;
}
