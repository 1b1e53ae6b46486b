#pragma once

// Opening what lies in a checkpoint directory, and nothing else.
//
// A checkpoint directory is a place where others may have put things: links, devices, FIFOs, files
// of other users. Thread promise: pure but for the file system. Invariants: what is returned open
// is this user's, has one name, is a plain file without set-user-id or set-group-id bits (or a
// directory), and was reached through no link; a FIFO does not block.

#include <cstdint>
#include <string>

#include "checkpoint/disk/disk.h"
#include "checkpoint/disk/error.h"

namespace muster::checkpoint {

// Opens the plain file `name` in `directory` for reading, and tells its size. The number that comes
// back is a file descriptor that the caller closes.
Result<int> OpenOwnFile(Disk& disk, int directory, const std::string& name, std::uint64_t* size);

// Opens the directory `name` in `directory`.
Result<int> OpenOwnDirectory(Disk& disk, int directory, const std::string& name);

// Reads `size` bytes at `offset`; kCorrupt when the file ends before.
Error ReadFully(Disk& disk, int fd, void* bytes, std::uint64_t size, std::uint64_t offset);

// Writes all of it.
Error WriteFully(Disk& disk, int fd, const void* bytes, std::uint64_t size);

}  // namespace muster::checkpoint
