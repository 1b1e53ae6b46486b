#include "agent/gpu_division.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/utf8.h"
#include "scheduler/runtime/file.h"
#include "topology/gpu/libraries.h"

namespace muster::agent {
namespace {

std::string PathIn(const std::string& directory) {
  return directory + "/gpu-division";
}

bool Has(const Machine& machine, const KnownAttempt& attempt, const std::string& gpu) {
  const std::vector<GpuGrant>& grants = attempt.allocation.gpus;
  return !attempt.ended && std::any_of(grants.begin(), grants.end(), [&](const GpuGrant& grant) {
    return grant.gpu < machine.gpus.size() &&
           (machine.gpus[grant.gpu].uuid == gpu || machine.gpus[grant.gpu].parent == gpu);
  });
}

}  // namespace

DivisionRecord ReadDivision(const std::string& directory) {
  DivisionRecord record;
  const absl::StatusOr<std::string> text = ReadFile(PathIn(directory));
  if (!text.ok()) {
    return record;
  }
  std::vector<std::string> lines = absl::StrSplit(*text, '\n');
  std::uint64_t number = 0;
  if (lines.size() < 2 || !absl::SimpleAtoi(lines[0], &number)) {
    return record;
  }
  record.last = {number, std::move(lines[1])};
  for (std::size_t i = 2; i < lines.size(); ++i) {
    if (!lines[i].empty()) {
      record.gpus.push_back(std::move(lines[i]));
    }
  }
  return record;
}

absl::Status WriteDivision(const std::string& directory, const DivisionRecord& record) {
  return WriteFileAtomically(
      PathIn(directory), absl::StrCat(record.last.number, "\n", Printable(record.last.text), "\n",
                                      absl::StrJoin(record.gpus, "\n"), "\n"));
}

std::string WhyNotDivided(const Machine& machine, const std::vector<KnownAttempt>& attempts,
                          const std::string& gpu) {
  const bool known = std::any_of(machine.mig.begin(), machine.mig.end(),
                                 [&gpu](const MigGpu& mig) { return mig.whole.uuid == gpu; });
  if (!known) {
    return "this node has no such GPU that MIG can divide";
  }
  const auto user =
      std::find_if(attempts.begin(), attempts.end(),
                   [&](const KnownAttempt& attempt) { return Has(machine, attempt, gpu); });
  return user == attempts.end() ? "" : absl::StrCat("job ", ToString(user->job), " uses it");
}

LayoutReport Divide(const Machine& machine, const LayoutOrder& order, const std::string& refused) {
  if (!refused.empty()) {
    return {order.number, refused};
  }
  const auto mig = std::find_if(machine.mig.begin(), machine.mig.end(),
                                [&](const MigGpu& other) { return other.whole.uuid == order.gpu; });
  const GpuVendor vendor = mig == machine.mig.end() ? GpuVendor() : mig->whole.vendor;
  const absl::Status divided = topology::DivideGpu(vendor, order.gpu, order.instances);
  return {order.number, std::string(divided.message())};
}

}  // namespace muster::agent
