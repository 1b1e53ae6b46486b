// muster-store: wiring only. What `muster store` runs.
#include <unistd.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "daemon/store/copy/store_copy.h"

int main(int argc, char** argv) {
  constexpr int kExitUsage = 2;
  if (argc != 5 || std::string_view(argv[1]) != "copy") {
    std::fputs("usage: muster-store copy FROM TO CLUSTER; see muster store --help\n", stderr);
    return kExitUsage;
  }
  const absl::StatusOr<muster::daemon::CopyReport> report =
      muster::daemon::CopyStore({argv[2], argv[3], argv[4]});
  if (!report.ok()) {
    std::fprintf(stderr, "muster store: %s\n", std::string(report.status().message()).c_str());
    return absl::IsInvalidArgument(report.status()) ? kExitUsage : 1;
  }
  std::uint64_t all = 0;
  for (const auto& [table, rows] : report->tables) {
    std::printf("%-14s %12llu\n", table.c_str(), static_cast<unsigned long long>(rows));
    all += rows;
  }
  std::printf("%llu rows copied, read back and compared\n", static_cast<unsigned long long>(all));
  if (report->tokens_stay) {
    std::puts("tokens: not copied, for their key is a file; users make new ones: muster token");
  }
  return 0;
}
