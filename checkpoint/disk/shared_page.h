#pragma once

// A page that processes share by mapping one file: the hints' and the progress'.
//
// Thread promise: pure but for the file system. Invariant: only a plain file that is large enough
// is mapped, so that no access to the page finds its end.

#include <cstddef>
#include <string>

#include "checkpoint/disk/disk.h"
#include "checkpoint/disk/error.h"

namespace muster::checkpoint {

// Maps the first `bytes` of `file`, as mmap's `protection` says; the caller unmaps them. kForeign,
// "PATH: is no KIND file", when it is no such file; kSystem with errno when it is not open.
Result<void*> MapSharedPage(const OpenFile& file, const std::string& path, std::size_t bytes,
                            int protection, const std::string& kind);

}  // namespace muster::checkpoint
