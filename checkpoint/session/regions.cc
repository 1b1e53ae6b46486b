#include "checkpoint/session/regions.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "checkpoint/disk/durable_file.h"
#include "checkpoint/disk/names.h"
#include "checkpoint/disk/own_file.h"

namespace muster::checkpoint {
namespace {

// All of a file of the program's own.
Result<std::string> ReadWhole(Disk& disk, const std::string& path) {
  const OpenFile file(disk, disk.OpenAt(AT_FDCWD, path.c_str(), O_RDONLY | O_CLOEXEC, 0));
  struct stat about {};
  if (!file.ok() || disk.Stat(file.get(), &about) != 0) {
    return {{}, SystemError(path, errno)};
  }
  std::string bytes(static_cast<std::size_t>(about.st_size), '\0');
  if (Error error = ReadFully(disk, file.get(), bytes.data(), bytes.size(), 0); error.failed()) {
    return {{}, MakeError(error.fault, path + ": " + error.text)};
  }
  return {std::move(bytes), {}};
}

Error RestoreElsewhere(const Shard& shard, const RegionPlace& place, const Elsewhere& memory) {
  const auto bytes = std::make_unique_for_overwrite<char[]>(place.size);
  const Error error = shard.Read(place, bytes.get());
  return error.failed() ? error : memory.put(bytes.get());
}

}  // namespace

Error Regions::AddRegion(Region region) {
  if (!IsName(region.name)) {
    return MakeError(Fault::kUsage,
                     "region: is no name: use 1 to 64 letters, digits, '.', '_' and '-'");
  }
  if (std::any_of(regions_.begin(), regions_.end(),
                  [&region](const Region& other) { return other.name == region.name; })) {
    return MakeError(Fault::kUsage, region.name + ": is protected already");
  }
  if (regions_.size() >= kRegionsMax) {
    return MakeError(Fault::kUsage, region.name + ": there are too many regions");
  }
  regions_.push_back(std::move(region));
  return {};
}

Error Regions::Add(const std::string& name, void* bytes, std::uint64_t size) {
  if (bytes == nullptr && size > 0) {
    return MakeError(Fault::kUsage, "region: has no memory");
  }
  return AddRegion({name, bytes, size, "", {}});
}

Error Regions::AddFile(const std::string& name, const std::string& path) {
  if (path.empty()) {
    return MakeError(Fault::kUsage, "region: has no path");
  }
  return AddRegion({name, nullptr, 0, path, {}});
}

Error Regions::AddElsewhere(const std::string& name, Elsewhere memory, std::uint64_t size) {
  return AddRegion({name, nullptr, size, "", std::move(memory)});
}

Result<GatheredRegions> Regions::Gather() const {
  GatheredRegions all;
  all.files.reserve(regions_.size());  // what points into them stays
  for (const Region& region : regions_) {
    if (region.elsewhere.fetch) {
      all.fetched.push_back(std::make_unique_for_overwrite<char[]>(region.size));
      if (Error error = region.elsewhere.fetch(all.fetched.back().get()); error.failed()) {
        error.text = region.name + ": " + error.text;
        return {{}, error};
      }
      all.bytes.push_back({region.name, all.fetched.back().get(), region.size});
      continue;
    }
    if (region.path.empty()) {
      all.bytes.push_back({region.name, region.bytes, region.size});
      continue;
    }
    Result<std::string> file = ReadWhole(*disk_, region.path);
    if (!file.ok()) {
      return {{}, file.error};
    }
    all.files.push_back(std::move(file.value));
    all.bytes.push_back({region.name, all.files.back().data(), all.files.back().size()});
  }
  return {std::move(all), {}};
}

Error Regions::Check(const Shard& shard) const {
  for (const Region& region : regions_) {
    const RegionPlace* place = shard.Find(region.name);
    if (place == nullptr) {
      return MakeError(Fault::kRegions, region.name + ": is not in the checkpoint");
    }
    if (region.path.empty() && place->size != region.size) {
      return MakeError(Fault::kRegions, region.name + ": has " + std::to_string(place->size) +
                                            " bytes in the checkpoint and " +
                                            std::to_string(region.size) + " here");
    }
  }
  return {};
}

Error Regions::Restore(const Shard& shard) const {
  for (const Region& region : regions_) {
    Error error = RestoreOne(region, shard, *shard.Find(region.name));
    if (error.failed()) {
      return error;
    }
  }
  return {};
}

Error Regions::RestoreOne(const Region& region, const Shard& shard,
                          const RegionPlace& place) const {
  if (region.elsewhere.put) {
    Error error = RestoreElsewhere(shard, place, region.elsewhere);
    return error.failed() ? MakeError(error.fault, region.name + ": " + error.text) : error;
  }
  if (region.path.empty()) {
    return shard.Read(place, region.bytes);
  }
  std::string bytes(place.size, '\0');
  if (Error error = shard.Read(place, bytes.data()); error.failed()) {
    return error;
  }
  const FileError error = WriteDurably(region.path, bytes.data(), bytes.size(), *disk_);
  return error.failed() ? MakeError(Fault::kSystem, region.path + ": " + error.Text()) : Error();
}

}  // namespace muster::checkpoint
