// Memory, node ranges and GPU requests: what is accepted is positive; memory reads back.
// Returns 1 when an invariant of the parser is broken; crashes are the sanitizers' to find.

#include <cstdint>
#include <string>

#include "cli/parse/request/resources.h"
#include "scheduler/base/text/size_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<muster::Bytes> memory = muster::cli::ParseMemory(text);
  if (memory.ok() &&
      (memory->zero() || *memory > muster::cli::kMemoryMax ||
       muster::cli::ParseMemory(muster::SizeText(memory->value())).value() != *memory)) {
    return 1;
  }
  const absl::StatusOr<muster::cli::NodeRange> nodes = muster::cli::ParseNodeRange(text);
  if (nodes.ok() && (nodes->min == 0 || nodes->max < nodes->min)) {
    return 1;
  }
  const absl::StatusOr<muster::GpuRequest> gpus = muster::cli::ParseGpus(text);
  return gpus.ok() && gpus->count == 0 ? 1 : 0;
}
