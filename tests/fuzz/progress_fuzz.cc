// A page of progress, which the job's programs own: whatever lies there, reading it ends, gives no
// more slots than there are and none without an owner.
// Returns 1 when an invariant of the reader is broken; crashes are the sanitizers' to find.

#include <algorithm>
#include <cstdint>
#include <string>

#include "checkpoint/advice/progress.h"

namespace {

bool Holds(const std::string& page) {
  const auto report = muster::checkpoint::ParseProgress(page.data(), page.size());
  return report.value.slots.size() <= muster::checkpoint::kProgressSlots &&
         std::all_of(report.value.slots.begin(), report.value.slots.end(), [](const auto& slot) {
           return slot.pid != 0 && slot.serial != 0 &&
                  slot.index < muster::checkpoint::kProgressSlots;
         });
}

}  // namespace

// The input as a page, and written into one that is right.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kPageBytes = 64 * 1024;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  std::string page("\0MSPRPG1", 8);
  page.resize(kPageBytes);
  const std::size_t at = size < 2 ? 8 : 8 + (data[0] | data[1] << 8U) % (kPageBytes - 8);
  const std::size_t count = std::min(bytes.size(), kPageBytes - at);
  page.replace(at, count, bytes, 0, count);
  return Holds(bytes) && Holds(page) ? 0 : 1;
}
