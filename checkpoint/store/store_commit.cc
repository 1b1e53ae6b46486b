// The writing side of Store: beginning, committing and retiring generations.

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "checkpoint/disk/disk.h"
#include "checkpoint/disk/durable_file.h"
#include "checkpoint/disk/own_file.h"
#include "checkpoint/store/manifest_file.h"
#include "checkpoint/store/store.h"

namespace muster::checkpoint {
namespace {

// Complete generations that go; `newest` never does.
Result<std::vector<std::uint64_t>> SurplusBut(const Store& store, std::uint64_t newest,
                                              const Retention& retention) {
  const Result<std::vector<GenerationName>> generations = store.List();
  if (!generations.ok()) {
    return {{}, generations.error};
  }
  std::vector<Aged> complete;
  for (const GenerationName& name : generations.value) {
    if (name.state != GenerationState::kComplete) {
      continue;
    }
    Aged aged{.number = name.number};
    if (retention.age_s > 0 || retention.bytes > 0) {
      const Result<Manifest> manifest = store.ReadManifest(name);
      aged.written_ms = manifest.value.written_ms;
      for (const ShardSeal& seal : manifest.value.shards) {
        aged.bytes += seal.bytes;
      }
    }
    complete.push_back(aged);
  }
  const auto now_ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                          std::chrono::system_clock::now().time_since_epoch())
                          .count();
  std::vector<std::uint64_t> surplus =
      Surplus(complete, retention, static_cast<std::uint64_t>(now_ms));
  surplus.erase(std::remove(surplus.begin(), surplus.end(), newest), surplus.end());
  return {std::move(surplus), {}};
}

}  // namespace

Error Store::LockForWriting() {
  if (lock_.ok()) {
    return {};
  }
  OpenFile lock(
      disk(), disk().OpenAt(directory_.fd(), kLockName,
                            O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, kPrivateFile));
  if (!lock.ok()) {
    return SystemError(directory_.path() + "/" + kLockName, errno);
  }
  if (disk().LockExclusively(lock.get()) != 0) {
    return errno == EWOULDBLOCK
               ? MakeError(Fault::kBusy,
                           directory_.path() + ": another living program writes there")
               : SystemError(directory_.path() + "/" + kLockName, errno);
  }
  lock_ = std::move(lock);
  return {};
}

Result<std::uint64_t> Store::Next() const {
  const Result<std::vector<std::string>> names = directory_.Entries();
  if (!names.ok()) {
    return {0, names.error};
  }
  std::uint64_t number = 1;
  for (const std::string& name : names.value) {
    const auto generation = ParseGenerationName(name);
    const auto arrival = ParseArrivalName(name);
    number = std::max(number, generation ? generation->number + 1 : 0);
    number = std::max(number, arrival ? arrival->number + 1 : 0);
  }
  return {number, {}};
}

Error Store::BeginAs(std::uint64_t number) {
  const Result<std::vector<GenerationName>> generations = List();
  if (!generations.ok()) {
    return generations.error;
  }
  for (const GenerationName& name : generations.value) {
    if (name.state == GenerationState::kPartial || name.state == GenerationState::kDoomed) {
      if (Error error = directory_.RemoveFiles(ToText(name)); error.failed()) {
        return error;
      }
    }
  }
  if (number > kGenerationMax) {
    return MakeError(Fault::kUsage, directory_.path() + ": there are no numbers left");
  }
  const std::string name = ToText({number, GenerationState::kPartial});
  return disk().MakeDirectoryAt(directory_.fd(), name.c_str(), kPrivateDirectory) == 0
             ? Error()
             : SystemError(name + ": mkdir", errno);
}

Result<ShardSeal> Store::Write(const ShardHead& head,
                               const std::vector<RegionBytes>& regions) const {
  const Result<int> fd = OpenOwnDirectory(disk(), directory_.fd(),
                                          ToText({head.generation, GenerationState::kPartial}));
  if (!fd.ok()) {
    return {{}, fd.error};
  }
  const OpenFile directory(disk(), fd.value);
  return WriteShard(disk(), directory.get(), head, regions);
}

Error Store::Commit(const Manifest& manifest) {
  const std::string partial = ToText({manifest.generation, GenerationState::kPartial});
  const std::string complete = ToText({manifest.generation, GenerationState::kComplete});
  const Result<int> fd = OpenOwnDirectory(disk(), directory_.fd(), partial);
  if (!fd.ok()) {
    return fd.error;
  }
  const OpenFile directory(disk(), fd.value);
  // Written before the manifest is flushed: what a file system writes at once costs one wait.
  DurableFile latest = directory_.Latest();
  if (Error error = StoreDirectory::WriteLatest(manifest.generation, &latest); error.failed()) {
    return error;
  }
  latest.BeginFlush();
  if (Error error = WriteManifestIn(disk(), directory.get(), manifest); error.failed()) {
    return MakeError(error.fault, partial + ": " + error.text);
  }
  if (Error error = FileErrorOf(kLatestName, latest.Flush()); error.failed()) {
    return error;
  }
  // The names of the shards and of the manifest, before the name that says that they are there.
  if (disk().Flush(directory.get()) != 0) {
    return SystemError(partial + ": fsync", errno);
  }
  if (Error error = directory_.Rename(partial, complete); error.failed()) {
    return error;
  }
  if (Error error = directory_.Flush(); error.failed()) {
    return error;
  }
  return FileErrorOf(kLatestName, latest.Commit());
}

void Store::Abandon(std::uint64_t generation) {
  // What cannot be removed now, the next BeginAs removes.
  (void)directory_.RemoveFiles(ToText({generation, GenerationState::kPartial}));
}

Error Store::Remove(const GenerationName& name) {
  const std::string doomed = ToText({name.number, GenerationState::kDoomed});
  if (name.state != GenerationState::kDoomed) {
    if (Error error = directory_.Rename(ToText(name), doomed); error.failed()) {
      return error;
    }
  }
  return directory_.RemoveFiles(doomed);
}

Error Store::Retire(std::uint64_t newest, const Retention& retention) {
  const Result<std::vector<std::uint64_t>> surplus = SurplusBut(*this, newest, retention);
  if (!surplus.ok() || surplus.value.empty()) {
    return surplus.error;
  }
  const Result<Manifest> verified = Verify({newest, GenerationState::kComplete});
  return verified.ok() ? RetireVerified(newest, retention) : verified.error;
}

Error Store::RetireVerified(std::uint64_t newest, const Retention& retention) {
  const Result<std::vector<std::uint64_t>> surplus = SurplusBut(*this, newest, retention);
  for (const std::uint64_t number : surplus.value) {
    if (Error error = Remove({number, GenerationState::kComplete}); error.failed()) {
      return error;
    }
  }
  return surplus.error;
}

}  // namespace muster::checkpoint
