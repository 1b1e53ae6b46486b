#include "checkpoint/store/shard.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "checkpoint/disk/disk.h"
#include "checkpoint/disk/hashed_file.h"
#include "checkpoint/disk/names.h"
#include "checkpoint/disk/own_file.h"

namespace muster::checkpoint {
namespace {

constexpr char kMagic[] = "MUSTSHRD";
constexpr std::size_t kMagicBytes = 8;
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kHeadBytes = kMagicBytes + std::size_t{4} * 4 + 8 + kNameBytesMax;
constexpr std::size_t kRegionBytes = kNameBytesMax + 8;

void PutNumber(std::string* bytes, std::uint64_t number, int width) {
  for (int i = 0; i < width; ++i) {
    *bytes += static_cast<char>(number >> (8 * i) & 0xff);
  }
}

void PutName(std::string* bytes, const std::string& name) {
  *bytes += name;
  bytes->append(kNameBytesMax - name.size(), '\0');
}

std::uint64_t TakeNumber(std::string_view* bytes, std::size_t width) {
  std::uint64_t number = 0;
  for (std::size_t i = width; i-- > 0;) {
    number = number << 8 | static_cast<unsigned char>((*bytes)[i]);
  }
  bytes->remove_prefix(width);
  return number;
}

// "" when it is no name with nothing but zeros behind it.
std::string TakeName(std::string_view* bytes) {
  const std::string_view field = bytes->substr(0, kNameBytesMax);
  bytes->remove_prefix(kNameBytesMax);
  const std::string_view name = field.substr(0, field.find('\0'));
  const std::string_view rest = field.substr(name.size());
  const bool padded = std::all_of(rest.begin(), rest.end(), [](char c) { return c == '\0'; });
  return padded && IsName(name) ? std::string(name) : "";
}

std::string PrintHead(const ShardHead& head, const std::vector<RegionBytes>& regions) {
  std::string bytes(kMagic);
  PutNumber(&bytes, kVersion, 4);
  PutNumber(&bytes, regions.size(), 4);
  PutNumber(&bytes, head.rank, 4);
  PutNumber(&bytes, head.ranks, 4);
  PutNumber(&bytes, head.generation, 8);
  PutName(&bytes, head.job);
  for (const RegionBytes& region : regions) {
    PutName(&bytes, region.name);
    PutNumber(&bytes, region.size, 8);
  }
  return bytes;
}

Error Corrupt(const std::string& name, const char* what) {
  return MakeError(Fault::kCorrupt, name + ": " + what);
}

}  // namespace

ShardHead HeadOf(const Manifest& manifest, std::uint32_t rank) {
  return {.job = manifest.job,
          .generation = manifest.generation,
          .rank = rank,
          .ranks = static_cast<std::uint32_t>(manifest.shards.size())};
}

Result<ShardSeal> WriteShard(Disk& disk, int directory, const ShardHead& head,
                             const std::vector<RegionBytes>& regions) {
  const std::string name = ShardName(head.rank);
  const auto fail = [&name](const Error& error) -> Result<ShardSeal> {
    return {{}, MakeError(error.fault, name + ": " + error.text)};
  };
  OpenFile file(disk,
                disk.OpenAt(directory, name.c_str(),
                            O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kPrivateFile));
  if (!file.ok()) {
    return fail(SystemError("create", errno));
  }
  HashedFile hashed(disk, file.get());
  const std::string start = PrintHead(head, regions);
  if (Error error = hashed.Append(start.data(), start.size()); error.failed()) {
    return fail(error);
  }
  for (const RegionBytes& region : regions) {
    if (Error error = hashed.Append(region.bytes, region.size); error.failed()) {
      return fail(error);
    }
  }
  if (disk.Flush(file.get()) != 0) {
    return fail(SystemError("fsync", errno));
  }
  if (file.Close() != 0) {
    return fail(SystemError("close", errno));
  }
  return {{head.rank, hashed.written(), hashed.checksum()}, {}};
}

Result<Shard> Shard::Open(Disk& disk, int directory, const ShardHead& head, const ShardSeal& seal) {
  const std::string name = ShardName(head.rank);
  std::uint64_t size = 0;
  const Result<int> fd = OpenOwnFile(disk, directory, name, &size);
  if (!fd.ok()) {
    return {{}, fd.error};
  }
  Shard shard(disk, OpenFile(disk, fd.value), seal);
  if (size != seal.bytes) {
    return {{},
            Corrupt(name, (std::string("has ") + std::to_string(size) + " bytes and not " +
                           std::to_string(seal.bytes))
                              .c_str())};
  }
  Error error = shard.ReadTable(head);
  if (error.failed()) {
    return {{}, error};
  }
  return {std::move(shard), {}};
}

Error Shard::ReadTable(const ShardHead& head) {
  const std::string name = ShardName(head.rank);
  if (seal_.bytes < kHeadBytes) {
    return Corrupt(name, "is too short for a shard");
  }
  std::string bytes(kHeadBytes, '\0');
  if (Error error = ReadFully(*disk_, file_.get(), bytes.data(), bytes.size(), 0); error.failed()) {
    return error;
  }
  std::string_view rest = bytes;
  if (rest.substr(0, kMagicBytes) != kMagic) {
    return Corrupt(name, "is no shard");
  }
  rest.remove_prefix(kMagicBytes);
  if (TakeNumber(&rest, 4) != kVersion) {
    return Corrupt(name, "is of another version");
  }
  const std::uint64_t count = TakeNumber(&rest, 4);
  ShardHead found;
  found.rank = static_cast<std::uint32_t>(TakeNumber(&rest, 4));
  found.ranks = static_cast<std::uint32_t>(TakeNumber(&rest, 4));
  found.generation = TakeNumber(&rest, 8);
  found.job = TakeName(&rest);
  if (!(found == head)) {
    return MakeError(Fault::kForeign, name + ": is rank " + std::to_string(found.rank) + " of " +
                                          std::to_string(found.ranks) + " of generation " +
                                          std::to_string(found.generation) + " of job \"" +
                                          found.job + "\"");
  }
  if (count > kRegionsMax || (seal_.bytes - kHeadBytes) / kRegionBytes < count) {
    return Corrupt(name, "has a table longer than itself");
  }
  bytes.assign(count * kRegionBytes, '\0');
  if (Error error = ReadFully(*disk_, file_.get(), bytes.data(), bytes.size(), kHeadBytes);
      error.failed()) {
    return error;
  }
  rest = bytes;
  std::uint64_t offset = kHeadBytes + bytes.size();
  for (std::uint64_t i = 0; i < count; ++i) {
    RegionPlace place;
    place.name = TakeName(&rest);
    place.size = TakeNumber(&rest, 8);
    place.offset = offset;
    if (place.name.empty() || place.size > seal_.bytes - offset) {
      return Corrupt(name, "has a table that does not fit it");
    }
    offset += place.size;
    regions_.push_back(std::move(place));
  }
  return offset == seal_.bytes ? Error() : Corrupt(name, "goes on after its last region");
}

const RegionPlace* Shard::Find(const std::string& name) const {
  const auto found =
      std::find_if(regions_.begin(), regions_.end(),
                   [&name](const RegionPlace& region) { return region.name == name; });
  return found == regions_.end() ? nullptr : &*found;
}

Error Shard::Read(const RegionPlace& region, void* bytes) const {
  return ReadFully(*disk_, file_.get(), bytes, region.size, region.offset);
}

Error Shard::VerifyChecksum() const {
  const std::string name = ShardName(seal_.rank);
  const Result<std::uint64_t> checksum = HashFile(*disk_, file_.get(), seal_.bytes);
  if (!checksum.ok()) {
    return MakeError(checksum.error.fault, name + ": " + checksum.error.text);
  }
  return checksum.value == seal_.checksum ? Error() : Corrupt(name, "does not match its checksum");
}

Error Shard::ReadRaw(std::uint64_t offset, void* bytes, std::uint64_t size) const {
  const std::uint64_t there = offset < seal_.bytes ? std::min(size, seal_.bytes - offset) : 0;
  std::fill_n(static_cast<char*>(bytes) + there, size - there, '\0');
  return there > 0 ? ReadFully(*disk_, file_.get(), bytes, there, offset) : Error();
}

Error Shard::CopyTo(HashedFile* to, std::uint64_t rate) const {
  return CopyInto(*disk_, file_.get(), seal_.bytes, to, rate);
}

}  // namespace muster::checkpoint
