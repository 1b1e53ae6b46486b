#include "cli/drill/generation_print.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "checkpoint/disk/checksum.h"

namespace muster::cli {
namespace {

using checkpoint::RegionPlace;
using checkpoint::Shard;

checkpoint::Result<std::uint64_t> HashRegion(const Shard& shard, const RegionPlace& region) {
  constexpr std::uint64_t kPiece = std::uint64_t{1} << 20;
  std::string piece(std::min(region.size, kPiece), '\0');
  checkpoint::Checksum checksum;
  for (std::uint64_t done = 0; done < region.size;) {
    const std::uint64_t size = std::min(kPiece, region.size - done);
    if (auto error = shard.ReadRaw(region.offset + done, piece.data(), size); error.failed()) {
      return {0, std::move(error)};
    }
    checksum.Add(piece.data(), size);
    done += size;
  }
  return {checksum.value(), {}};
}

using RegionKey = std::pair<std::uint32_t, std::string>;

std::map<RegionKey, RegionPrint> ByRegion(const GenerationPrint& print) {
  std::map<RegionKey, RegionPrint> found;
  for (const RegionPrint& region : print.regions) {
    found.insert({{region.rank, region.name}, region});
  }
  return found;
}

}  // namespace

checkpoint::Result<GenerationPrint> PrintOf(const checkpoint::Store& store,
                                            std::uint64_t generation) {
  const auto manifest = store.Verify({generation, checkpoint::GenerationState::kComplete});
  if (!manifest.ok()) {
    return {{}, manifest.error};
  }
  GenerationPrint print;
  print.generation = generation;
  print.ranks = static_cast<std::uint32_t>(manifest.value.shards.size());
  print.written = Time(std::chrono::milliseconds(manifest.value.written_ms));
  for (std::uint32_t rank = 0; rank < print.ranks; ++rank) {
    const auto shard = store.OpenShard(manifest.value, rank);
    if (!shard.ok()) {
      return {{}, shard.error};
    }
    for (const RegionPlace& region : shard.value.regions()) {
      auto checksum = HashRegion(shard.value, region);
      if (!checksum.ok()) {
        return {{}, std::move(checksum.error)};
      }
      print.regions.push_back({rank, region.name, region.size, checksum.value});
    }
  }
  return {std::move(print), {}};
}

StateComparison CompareStates(const GenerationPrint& original, const GenerationPrint& drill) {
  StateComparison comparison;
  comparison.generation = original.generation;
  comparison.regions = original.regions.size();
  comparison.original_ranks = original.ranks;
  comparison.drill_ranks = drill.ranks;
  if (original.ranks != drill.ranks) {
    comparison.match = StateMatch::kOtherRanks;
    return comparison;
  }
  std::map<RegionKey, RegionPrint> left = ByRegion(drill);
  for (const RegionPrint& region : original.regions) {
    const auto found = left.find({region.rank, region.name});
    if (found == left.end() || found->second != region) {
      comparison.differing.push_back(region);
    }
    if (found != left.end()) {
      left.erase(found);
    }
  }
  for (auto& [key, region] : left) {
    comparison.differing.push_back(std::move(region));
  }
  comparison.match = comparison.differing.empty() ? StateMatch::kEqual : StateMatch::kDiffers;
  return comparison;
}

}  // namespace muster::cli
