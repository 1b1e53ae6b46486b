#include "agent/supervisor/image/system/squash_file.h"

#include <endian.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdint>

#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {
namespace {

// The part of the superblock up to the place of the table of owners.
struct [[gnu::packed]] Superblock {
  std::uint32_t magic;
  std::uint32_t inodes;
  std::uint32_t made;
  std::uint32_t block_size;
  std::uint32_t fragments;
  std::uint16_t compression;
  std::uint16_t block_log;
  std::uint16_t flags;
  std::uint16_t owners;  // users and groups, each number once
  std::uint16_t major;
  std::uint16_t minor;
  std::uint64_t root;
  std::uint64_t bytes;
  std::uint64_t owner_table;  // of places of blocks of owners
};

// The one block of a table of one owner, which is stored as it is: it cannot be compressed.
struct [[gnu::packed]] OwnerBlock {
  std::uint16_t header;
  std::uint32_t owner;
};

constexpr std::uint32_t kMagic = 0x73717368;
constexpr std::uint16_t kStoredFourBytes = 0x8000 | sizeof(std::uint32_t);

template <class Record>
bool ReadAt(const UniqueFd& file, std::uint64_t place, Record* record) {
  return pread(file.get(), record, sizeof(*record), static_cast<off_t>(place)) ==
         static_cast<ssize_t>(sizeof(*record));
}

}  // namespace

bool IsAllOfRoot(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  Superblock block = {};
  std::uint64_t place = 0;
  OwnerBlock owners = {};
  return file.valid() && ReadAt(file, 0, &block) && le32toh(block.magic) == kMagic &&
         le16toh(block.major) == 4 && le16toh(block.owners) == 1 &&
         ReadAt(file, le64toh(block.owner_table), &place) &&
         ReadAt(file, le64toh(place), &owners) && le16toh(owners.header) == kStoredFourBytes &&
         owners.owner == 0;
}

}  // namespace muster::agent
