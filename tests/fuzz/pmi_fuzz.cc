// What a rank says by PMI-1: any bytes are answered or refused, however they are pieced, and what
// is kept of them can be told to other nodes. Returns 1 when that does not hold.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "agent/supervisor/mpi/pmi_wire.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using muster::agent::PmiSession;
  using muster::agent::PmiStore;
  const std::string_view said(reinterpret_cast<const char*>(data), size);
  PmiStore store;
  const auto nothing = [] {};
  PmiSession whole("step", 2, store, {nothing, nothing, nothing, [](int) {}});
  const absl::StatusOr<std::string> answer = whole.Take(said);

  PmiStore other;
  PmiSession pieces("step", 2, other, {nothing, nothing, nothing, [](int) {}});
  std::string answers;
  bool taken = true;
  for (std::size_t at = 0; taken && at < size; at += 7) {
    const absl::StatusOr<std::string> piece = pieces.Take(said.substr(at, 7));
    taken = piece.ok();
    answers += taken ? *piece : "";
  }
  PmiStore merged;
  const bool told = merged.Merge(store.TakeFresh()).ok();
  (void)merged.Merge(said);
  return told && taken == answer.ok() && (!taken || answers == *answer) ? 0 : 1;
}
