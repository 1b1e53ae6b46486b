#include "scheduler/model/machine/xid_error.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"

namespace muster {
namespace {

struct XidError {
  std::uint64_t number;
  const char* text;
  bool breaks_gpu;
};

constexpr std::array<XidError, 26> kErrors = {{
    {13, "graphics engine exception", false},
    {31, "GPU memory page fault", false},
    {32, "invalid or corrupted push buffer stream", false},
    {43, "GPU stopped processing", false},
    {45, "preemptive cleanup, due to previous errors", false},
    {46, "GPU stopped processing, and its reset failed", true},
    {48, "double bit ECC error", true},
    {61, "internal micro-controller breakpoint", true},
    {62, "internal micro-controller halt", true},
    {63, "ECC page retirement or row remapping recording event", false},
    {64, "ECC page retirement or row remapper recording failure", true},
    {68, "video processor exception", false},
    {69, "graphics engine class error", false},
    {74, "NVLink error", true},
    {79, "GPU has fallen off the bus", true},
    {92, "high single-bit ECC error rate", false},
    {94, "contained ECC error", false},
    {95, "uncontained ECC error", true},
    {109, "context switch timeout", true},
    {110, "security fault", true},
    {119, "GSP RPC timeout", true},
    {120, "GSP error", true},
    {136, "NVLink training failed", true},
    {137, "NVLink fault by the memory of another GPU", false},
    {140, "unrecovered ECC error", true},
    {143, "GPU initialization failure", true},
}};

const XidError* Find(std::uint64_t xid) {
  const auto* const found = std::find_if(
      kErrors.begin(), kErrors.end(), [xid](const XidError& error) { return error.number == xid; });
  return found == kErrors.end() ? nullptr : found;
}

}  // namespace

std::string XidText(std::uint64_t xid) {
  const XidError* const error = Find(xid);
  return error == nullptr ? absl::StrCat("XID ", xid)
                          : absl::StrCat("XID ", xid, " (", error->text, ")");
}

bool XidBreaksGpu(std::uint64_t xid) {
  const XidError* const error = Find(xid);
  return error != nullptr && error->breaks_gpu;
}

}  // namespace muster
