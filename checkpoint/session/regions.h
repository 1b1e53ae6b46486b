#pragma once

// What a rank protects: its memory, a device's memory and files, by name.
//
// Gather takes what they hold now, for a shard; Restore puts back what a shard holds. Thread
// promise: one thread at a time. Invariants: names are different; protected memory is only read by
// Gather and only written by Restore; memory and devices outlive this.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "checkpoint/disk/disk.h"
#include "checkpoint/disk/error.h"
#include "checkpoint/session/device_memory.h"
#include "checkpoint/store/shard.h"

namespace muster::checkpoint {

// What the regions held at one time. `bytes` points into the regions and into the rest.
struct GatheredRegions {
  std::vector<RegionBytes> bytes;
  std::vector<std::string> files;
  std::vector<std::unique_ptr<char[]>> fetched;
};

class Regions {
 public:
  explicit Regions(Disk& disk) : disk_(&disk) {}

  // `name` is new and a name (names.h).
  Error Add(const std::string& name, void* bytes, std::uint64_t size);
  // Memory of a device: it passes through as much memory of the host.
  Error AddElsewhere(const std::string& name, Elsewhere memory, std::uint64_t size);
  // The file's content travels with the checkpoint; restoring replaces it whole.
  Error AddFile(const std::string& name, const std::string& path);

  // In the order in which they were added. Valid until another one is.
  Result<GatheredRegions> Gather() const;
  // kRegions: the shard lacks one, or has it with another size.
  Error Check(const Shard& shard) const;
  // REQUIRES: Check found nothing, and every byte of the shard matched its checksum.
  Error Restore(const Shard& shard) const;

 private:
  struct Region {
    std::string name;
    void* bytes = nullptr;
    std::uint64_t size = 0;
    std::string path;     // of a file, then bytes is null
    Elsewhere elsewhere;  // its memory, where bytes and path are none
  };
  Error AddRegion(Region region);
  Error RestoreOne(const Region& region, const Shard& shard, const RegionPlace& place) const;

  Disk* disk_;
  std::vector<Region> regions_;
};

}  // namespace muster::checkpoint
