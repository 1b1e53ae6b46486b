#pragma once

// XID errors: what NVIDIA's driver tells of a GPU, by number, in NVIDIA's words ("XID Errors",
// docs.nvidia.com/deploy/xid-errors).

#include <cstdint>
#include <string>

namespace muster {

// "XID 79 (GPU has fallen off the bus)"; "XID 7" of one that is not known here.
std::string XidText(std::uint64_t xid);

// After it the GPU does not work on as it should: it is to be reset, or replaced. Others are the
// program's own, such as an address that is no memory of its, or mended by the driver.
bool XidBreaksGpu(std::uint64_t xid);

}  // namespace muster
