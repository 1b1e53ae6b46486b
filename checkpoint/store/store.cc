#include "checkpoint/store/store.h"

#include <sys/stat.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "checkpoint/disk/own_file.h"
#include "checkpoint/store/manifest_file.h"

namespace muster::checkpoint {

Result<Store> Store::Open(Disk& disk, const std::string& path) {
  Result<StoreDirectory> directory = StoreDirectory::Open(disk, path);
  return directory.ok() ? Result<Store>{Store(std::move(directory.value)), {}}
                        : Result<Store>{{}, directory.error};
}

Result<std::vector<GenerationName>> Store::List() const {
  const Result<std::vector<std::string>> names = directory_.Entries();
  if (!names.ok()) {
    return {{}, names.error};
  }
  std::vector<GenerationName> generations;
  for (const std::string& name : names.value) {
    if (const auto generation = ParseGenerationName(name)) {
      generations.push_back(*generation);
    }
  }
  std::stable_sort(
      generations.begin(), generations.end(),
      [](const GenerationName& a, const GenerationName& b) { return a.number > b.number; });
  return {std::move(generations), {}};
}

Result<Manifest> Store::ReadManifest(const GenerationName& name) const {
  const Result<int> fd = OpenOwnDirectory(disk(), directory_.fd(), ToText(name));
  if (!fd.ok()) {
    return {{}, fd.error};
  }
  const OpenFile directory(disk(), fd.value);
  return ReadManifestIn(disk(), directory.get(), name);
}

Result<Manifest> Store::Verify(const GenerationName& name) const {
  const Result<int> fd = OpenOwnDirectory(disk(), directory_.fd(), ToText(name));
  if (!fd.ok()) {
    return {{}, fd.error};
  }
  const OpenFile directory(disk(), fd.value);
  Result<Manifest> manifest = ReadManifestIn(disk(), directory.get(), name);
  if (!manifest.ok()) {
    return manifest;
  }
  if (Error error = CheckEntriesIn(disk(), directory.get(), manifest.value); error.failed()) {
    return {{}, InGeneration(name, error)};
  }
  for (const ShardSeal& seal : manifest.value.shards) {
    const Result<Shard> shard =
        Shard::Open(disk(), directory.get(), HeadOf(manifest.value, seal.rank), seal);
    Error error = shard.ok() ? shard.value.VerifyChecksum() : shard.error;
    if (error.failed()) {
      return {{}, InGeneration(name, error)};
    }
  }
  return manifest;
}

Error Store::CheckEntries(const GenerationName& name, const Manifest& manifest) const {
  const Result<int> fd = OpenOwnDirectory(disk(), directory_.fd(), ToText(name));
  if (!fd.ok()) {
    return fd.error;
  }
  const OpenFile directory(disk(), fd.value);
  return CheckEntriesIn(disk(), directory.get(), manifest);
}

Error Store::VerifyShard(const ShardHead& head, const ShardSeal& seal) const {
  const Result<int> fd = OpenOwnDirectory(disk(), directory_.fd(),
                                          ToText({head.generation, GenerationState::kComplete}));
  if (!fd.ok()) {
    return fd.error;
  }
  const OpenFile directory(disk(), fd.value);
  const Result<Shard> shard = Shard::Open(disk(), directory.get(), head, seal);
  return shard.ok() ? shard.value.VerifyChecksum() : shard.error;
}

Result<std::vector<GenerationName>> Store::Candidates() const {
  Result<std::vector<GenerationName>> generations = List();
  if (!generations.ok()) {
    return generations;
  }
  std::vector<GenerationName> candidates;
  for (const GenerationState state : {GenerationState::kComplete, GenerationState::kSetAside}) {
    std::copy_if(generations.value.begin(), generations.value.end(), std::back_inserter(candidates),
                 [state](const GenerationName& name) { return name.state == state; });
  }
  return {std::move(candidates), {}};
}

Result<Manifest> Store::VerifyFor(const std::string& job, const GenerationName& name) const {
  Result<Manifest> manifest = Verify(name);
  if (manifest.ok() && manifest.value.job != job) {
    manifest.error =
        MakeError(Fault::kForeign, ToText(name) + ": is of job \"" + manifest.value.job + "\"");
  }
  return manifest;
}

Result<Manifest> Store::ChooseForRestart(const std::string& job,
                                         std::vector<std::string>* passed) const {
  const Result<std::vector<GenerationName>> candidates = Candidates();
  if (!candidates.ok()) {
    return {{}, candidates.error};
  }
  Error first = MakeError(Fault::kNotFound, directory_.path() + ": holds no generation");
  for (const GenerationName& name : candidates.value) {
    Result<Manifest> manifest = VerifyFor(job, name);
    if (manifest.ok()) {
      return manifest;
    }
    passed->push_back(manifest.error.text);
    if (first.fault == Fault::kNotFound) {
      first = manifest.error;
    }
  }
  return {{}, first};
}

Result<OpenFile> Store::OpenGeneration(const GenerationName& name) const {
  return directory_.OpenEntry(ToText(name));
}

Result<Shard> Store::OpenShard(const Manifest& manifest, std::uint32_t rank) const {
  if (rank >= manifest.shards.size()) {
    return {{}, MakeError(Fault::kUsage, "there is no rank " + std::to_string(rank))};
  }
  // Set aside or not, there is one directory of that number.
  for (const GenerationState state : {GenerationState::kComplete, GenerationState::kSetAside}) {
    const GenerationName name{manifest.generation, state};
    struct stat about {};
    if (disk().StatAt(directory_.fd(), ToText(name).c_str(), &about) != 0) {
      continue;
    }
    const Result<int> fd = OpenOwnDirectory(disk(), directory_.fd(), ToText(name));
    if (!fd.ok()) {
      return {{}, fd.error};
    }
    const OpenFile directory(disk(), fd.value);
    return Shard::Open(disk(), directory.get(), HeadOf(manifest, rank), manifest.shards[rank]);
  }
  return {{},
          MakeError(Fault::kNotFound,
                    "generation " + std::to_string(manifest.generation) + ": is gone")};
}

std::uint64_t NewestThatSeemsWhole(const Store& store) {
  const Result<std::vector<GenerationName>> names = store.List();
  for (const GenerationName& name : names.value) {
    const Result<Manifest> manifest = name.state == GenerationState::kComplete
                                          ? store.ReadManifest(name)
                                          : Result<Manifest>{{}, MakeError(Fault::kNotFound, "")};
    if (!manifest.ok() || store.CheckEntries(name, manifest.value).failed()) {
      continue;
    }
    const std::vector<ShardSeal>& seals = manifest.value.shards;
    if (std::all_of(seals.begin(), seals.end(), [&](const ShardSeal& seal) {
          return store.OpenShard(manifest.value, seal.rank).ok();
        })) {
      return name.number;
    }
  }
  return 0;
}

}  // namespace muster::checkpoint
