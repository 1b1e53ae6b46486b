#include "checkpoint/store/store.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "checkpoint/disk/own_file.h"

namespace muster::checkpoint {
namespace {

Error In(const GenerationName& name, const Error& error) {
  return MakeError(error.fault, ToText(name) + ": " + error.text);
}

}  // namespace

Result<Store> Store::Open(Disk& disk, const std::string& path) {
  OpenFile directory(disk,
                     disk.OpenAt(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
  struct stat about {};
  if (!directory.ok() || disk.Stat(directory.get(), &about) != 0) {
    return {{}, SystemError(path, errno)};
  }
  if (about.st_uid != geteuid()) {
    return {{}, MakeError(Fault::kForeign, path + ": belongs to another user")};
  }
  return {Store(disk, path, std::move(directory)), {}};
}

Result<std::vector<GenerationName>> Store::List() const {
  std::vector<std::string> names;
  if (disk_->List(directory_.get(), &names) != 0) {
    return {{}, SystemError(path_ + ": list", errno)};
  }
  std::vector<GenerationName> generations;
  for (const std::string& name : names) {
    if (const auto generation = ParseGenerationName(name)) {
      generations.push_back(*generation);
    }
  }
  std::stable_sort(
      generations.begin(), generations.end(),
      [](const GenerationName& a, const GenerationName& b) { return a.number > b.number; });
  return {std::move(generations), {}};
}

Result<Manifest> Store::ReadManifestIn(int directory, const GenerationName& name) const {
  std::uint64_t size = 0;
  const Result<int> fd = OpenOwnFile(*disk_, directory, kManifestName, &size);
  if (!fd.ok()) {
    return {{}, In(name, fd.error)};
  }
  const OpenFile file(*disk_, fd.value);
  if (size > kManifestBytesMax) {
    return {{}, In(name, MakeError(Fault::kCorrupt, "manifest: is too large"))};
  }
  std::string text(size, '\0');
  if (Error error = ReadFully(*disk_, file.get(), text.data(), size, 0); error.failed()) {
    return {{}, In(name, error)};
  }
  Result<Manifest> manifest = ParseManifest(text);
  if (!manifest.ok()) {
    return {{}, In(name, manifest.error)};
  }
  if (manifest.value.generation != name.number) {
    return {{},
            In(name, MakeError(Fault::kForeign, "manifest: is that of generation " +
                                                    std::to_string(manifest.value.generation)))};
  }
  return manifest;
}

Result<Manifest> Store::ReadManifest(const GenerationName& name) const {
  const Result<int> fd = OpenOwnDirectory(*disk_, directory_.get(), ToText(name));
  if (!fd.ok()) {
    return {{}, fd.error};
  }
  const OpenFile directory(*disk_, fd.value);
  return ReadManifestIn(directory.get(), name);
}

Error Store::CheckEntriesIn(int directory, const Manifest& manifest) const {
  std::vector<std::string> names;
  if (disk_->List(directory, &names) != 0) {
    return SystemError("list", errno);
  }
  std::vector<std::string> expected = {kManifestName};
  for (const ShardSeal& seal : manifest.shards) {
    expected.push_back(ShardName(seal.rank));
  }
  std::sort(expected.begin(), expected.end());
  for (const std::string& name : expected) {
    if (!std::binary_search(names.begin(), names.end(), name)) {
      return MakeError(Fault::kCorrupt, name + ": is missing");
    }
  }
  for (const std::string& name : names) {
    if (!std::binary_search(expected.begin(), expected.end(), name)) {
      return MakeError(Fault::kForeign, "holds something that is not the checkpoint's");
    }
  }
  return {};
}

Result<Manifest> Store::Verify(const GenerationName& name) const {
  const Result<int> fd = OpenOwnDirectory(*disk_, directory_.get(), ToText(name));
  if (!fd.ok()) {
    return {{}, fd.error};
  }
  const OpenFile directory(*disk_, fd.value);
  Result<Manifest> manifest = ReadManifestIn(directory.get(), name);
  if (!manifest.ok()) {
    return manifest;
  }
  if (Error error = CheckEntriesIn(directory.get(), manifest.value); error.failed()) {
    return {{}, In(name, error)};
  }
  for (const ShardSeal& seal : manifest.value.shards) {
    const Result<Shard> shard =
        Shard::Open(*disk_, directory.get(), HeadOf(manifest.value, seal.rank), seal);
    Error error = shard.ok() ? shard.value.VerifyChecksum() : shard.error;
    if (error.failed()) {
      return {{}, In(name, error)};
    }
  }
  return manifest;
}

Error Store::CheckEntries(const GenerationName& name, const Manifest& manifest) const {
  const Result<int> fd = OpenOwnDirectory(*disk_, directory_.get(), ToText(name));
  if (!fd.ok()) {
    return fd.error;
  }
  const OpenFile directory(*disk_, fd.value);
  return CheckEntriesIn(directory.get(), manifest);
}

Error Store::VerifyShard(const ShardHead& head, const ShardSeal& seal) const {
  const Result<int> fd = OpenOwnDirectory(*disk_, directory_.get(),
                                          ToText({head.generation, GenerationState::kComplete}));
  if (!fd.ok()) {
    return fd.error;
  }
  const OpenFile directory(*disk_, fd.value);
  const Result<Shard> shard = Shard::Open(*disk_, directory.get(), head, seal);
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
  Error first = MakeError(Fault::kNotFound, path_ + ": holds no generation");
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
  const Result<int> fd = OpenOwnDirectory(*disk_, directory_.get(), ToText(name));
  return {OpenFile(*disk_, fd.ok() ? fd.value : -1), fd.error};
}

Result<Shard> Store::OpenShard(const Manifest& manifest, std::uint32_t rank) const {
  if (rank >= manifest.shards.size()) {
    return {{}, MakeError(Fault::kUsage, "there is no rank " + std::to_string(rank))};
  }
  // Set aside or not, there is one directory of that number.
  for (const GenerationState state : {GenerationState::kComplete, GenerationState::kSetAside}) {
    const GenerationName name{manifest.generation, state};
    struct stat about {};
    if (disk_->StatAt(directory_.get(), ToText(name).c_str(), &about) != 0) {
      continue;
    }
    const Result<int> fd = OpenOwnDirectory(*disk_, directory_.get(), ToText(name));
    if (!fd.ok()) {
      return {{}, fd.error};
    }
    const OpenFile directory(*disk_, fd.value);
    return Shard::Open(*disk_, directory.get(), HeadOf(manifest, rank), manifest.shards[rank]);
  }
  return {{},
          MakeError(Fault::kNotFound,
                    "generation " + std::to_string(manifest.generation) + ": is gone")};
}

}  // namespace muster::checkpoint
