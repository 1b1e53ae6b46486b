#include "checkpoint/store/arrivals.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>

#include "checkpoint/disk/disk.h"
#include "checkpoint/disk/own_file.h"
#include "checkpoint/store/admission.h"
#include "checkpoint/store/manifest_file.h"

namespace muster::checkpoint {
namespace {

// Completing is a few small writes: who holds the lock for longer than that hangs.
constexpr int kLockTries = 300;
constexpr long kLockPauseNs = 100'000'000;

std::string ArrivalOf(const Manifest& manifest) {
  return ToText(ArrivalName{manifest.generation, ChecksumOf(PrintManifest(manifest))});
}

// Copies the shard into the new file `name`, flushes it, and reads it back.
Error CopyVerified(Disk& disk, int directory, const std::string& name, const Shard& shard,
                   const ShardSeal& seal, std::uint64_t rate) {
  OpenFile file(
      disk, disk.OpenAt(directory, name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                        kPrivateFile));
  if (!file.ok()) {
    return SystemError(name + ": create", errno);
  }
  HashedFile hashed(disk, file.get());
  if (Error error = shard.CopyTo(&hashed, rate); error.failed()) {
    return MakeError(error.fault, name + ": " + error.text);
  }
  if (hashed.checksum() != seal.checksum) {
    return MakeError(Fault::kCorrupt, name + ": does not match its checksum on the local level");
  }
  if (disk.Flush(file.get()) != 0) {
    return SystemError(name + ": fsync", errno);
  }
  const Result<std::uint64_t> there = HashFile(disk, file.get(), seal.bytes);
  if (!there.ok() || there.value != seal.checksum) {
    return MakeError(Fault::kCorrupt, name + ": does not read back as it was written");
  }
  return file.Close() == 0 ? Error() : SystemError(name + ": close", errno);
}

// Whether all are there, of their sizes.
Result<bool> HasShards(Disk& disk, int directory, const Manifest& manifest) {
  struct stat about {};
  for (const ShardSeal& seal : manifest.shards) {
    if (disk.StatAt(directory, ShardName(seal.rank).c_str(), &about) != 0) {
      return {false, errno == ENOENT ? Error() : SystemError(ShardName(seal.rank), errno)};
    }
    if (static_cast<std::uint64_t>(about.st_size) != seal.bytes) {
      return {false, MakeError(Fault::kCorrupt, ShardName(seal.rank) + ": has another size")};
    }
  }
  return {true, {}};
}

}  // namespace

Result<bool> Arrivals::Place(const Manifest& manifest, std::uint32_t rank,
                             const Store& from) const {
  Disk& disk = directory_->disk();
  const std::string arrival = ArrivalOf(manifest);
  if (disk.MakeDirectoryAt(directory_->fd(), arrival.c_str(), kPrivateDirectory) != 0 &&
      errno != EEXIST) {
    return {false, SystemError(arrival + ": mkdir", errno)};
  }
  const Result<int> fd = OpenOwnDirectory(disk, directory_->fd(), arrival);
  if (!fd.ok()) {
    return {false, fd.error};
  }
  const OpenFile directory(disk, fd.value);
  const ShardHead head = HeadOf(manifest, rank);
  const ShardSeal& seal = manifest.shards[rank];
  const Result<Shard> here = Shard::Open(disk, directory.get(), head, seal);
  if (here.ok() && !here.value.VerifyChecksum().failed()) {
    return {false, {}};
  }
  const Result<Shard> shard = from.OpenShard(manifest, rank);
  if (!shard.ok()) {
    return {false, shard.error};
  }
  // What a killed helper left goes.
  const std::string name = ShardName(rank);
  const std::string partial = name + ".tmp";
  disk.UnlinkAt(directory.get(), partial.c_str(), 0);
  Error error = CopyVerified(disk, directory.get(), partial, shard.value, seal, rate_);
  if (!error.failed() && disk.RenameAt(directory.get(), partial.c_str(), name.c_str()) != 0) {
    error = SystemError(partial + ": rename", errno);
  }
  if (!error.failed() && disk.Flush(directory.get()) != 0) {
    error = SystemError(arrival + ": fsync", errno);
  }
  if (error.failed()) {
    disk.UnlinkAt(directory.get(), partial.c_str(), 0);
  }
  return {!error.failed(), std::move(error)};
}

Result<OpenFile> Arrivals::LockForFlush() const {
  Disk& disk = directory_->disk();
  OpenFile lock(disk,
                disk.OpenAt(directory_->fd(), kFlushLockName,
                            O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, kPrivateFile));
  if (!lock.ok()) {
    return {OpenFile(disk, -1), SystemError(directory_->path() + "/" + kFlushLockName, errno)};
  }
  for (int i = 0; i < kLockTries; ++i) {
    if (disk.LockExclusively(lock.get()) == 0) {
      return {std::move(lock), {}};
    }
    if (errno != EWOULDBLOCK) {
      return {OpenFile(disk, -1), SystemError(directory_->path() + "/" + kFlushLockName, errno)};
    }
    const timespec pause{0, kLockPauseNs};
    nanosleep(&pause, nullptr);
  }
  return {OpenFile(disk, -1),
          MakeError(Fault::kBusy,
                    directory_->path() + ": another flush has been completing one for long")};
}

Result<bool> Arrivals::Complete(const Manifest& manifest, const Retention& retention,
                                const std::string& admission) {
  const Result<OpenFile> lock = LockForFlush();
  return lock.ok() ? CompleteLocked(manifest, retention, admission)
                   : Result<bool>{false, lock.error};
}

Result<bool> Arrivals::HasSame(const Manifest& manifest) const {
  Disk& disk = directory_->disk();
  const GenerationName name{manifest.generation, GenerationState::kComplete};
  struct stat about {};
  if (disk.StatAt(directory_->fd(), ToText(name).c_str(), &about) != 0) {
    return {false, errno == ENOENT ? Error() : SystemError(ToText(name), errno)};
  }
  const Result<Manifest> there = store_->ReadManifest(name);
  if (!there.ok()) {
    return {false, there.error};
  }
  return {true, there.value == manifest
                    ? Error()
                    : MakeError(Fault::kForeign, ToText(name) + ": is there, and another one")};
}

Result<bool> Arrivals::CompleteLocked(const Manifest& manifest, const Retention& retention,
                                      const std::string& admission) {
  Disk& disk = directory_->disk();
  const std::string arrival = ArrivalOf(manifest);
  const std::string complete = ToText({manifest.generation, GenerationState::kComplete});
  struct stat about {};
  if (disk.StatAt(directory_->fd(), arrival.c_str(), &about) != 0) {
    // The last shard's helper was quicker; or a newer generation has overtaken it.
    return errno == ENOENT ? HasSame(manifest) : Result<bool>{false, SystemError(arrival, errno)};
  }
  const Result<int> fd = OpenOwnDirectory(disk, directory_->fd(), arrival);
  if (!fd.ok()) {
    return {false, fd.error};
  }
  const OpenFile directory(disk, fd.value);
  if (const Result<bool> whole = HasShards(disk, directory.get(), manifest); !whole.value) {
    return whole;
  }
  const Result<Retention> admitted = Admit(*store_, manifest, retention, admission);
  if (!admitted.ok()) {
    (void)directory_->RemoveFiles(arrival);
    return {false, admitted.error};
  }
  disk.UnlinkAt(directory.get(), kManifestName, 0);  // of one that was killed here
  if (Error error = WriteManifestIn(disk, directory.get(), manifest); error.failed()) {
    return {false, MakeError(error.fault, arrival + ": " + error.text)};
  }
  if (disk.Flush(directory.get()) != 0) {
    return {false, SystemError(arrival + ": fsync", errno)};
  }
  // As the shards were when they came.
  const Result<Manifest> there =
      ReadManifestIn(disk, directory.get(), {manifest.generation, GenerationState::kComplete});
  if (!there.ok() || !(there.value == manifest)) {
    return {false, MakeError(Fault::kCorrupt, arrival + ": manifest: does not read back")};
  }
  if (disk.RenameNewAt(directory_->fd(), arrival.c_str(), complete.c_str()) != 0) {
    const int error_number = errno;
    const Result<bool> same = HasSame(manifest);
    return {false, same.ok() ? SystemError(arrival + ": rename", error_number) : same.error};
  }
  if (Error error = directory_->Flush(); error.failed()) {
    return {false, error};
  }
  const Result<std::vector<GenerationName>> all = store_->List();
  const bool newest = all.ok() && all.value.front().number == manifest.generation;
  Error error = newest ? directory_->ReplaceLatest(manifest.generation) : all.error;
  error = error.failed() ? error : store_->RetireVerified(manifest.generation, admitted.value);
  RemoveBefore(manifest.generation);
  return {true, error};
}

// And what was being removed. What cannot be removed now, the next one removes.
void Arrivals::RemoveBefore(std::uint64_t generation) const {
  Disk& disk = directory_->disk();
  std::vector<std::string> names;
  (void)disk.List(directory_->fd(), &names);
  for (const std::string& name : names) {
    const auto arrival = ParseArrivalName(name);
    const auto other = ParseGenerationName(name);
    if ((arrival && arrival->number < generation) ||
        (other && other->state == GenerationState::kDoomed)) {
      (void)directory_->RemoveFiles(name);
    }
  }
}

Error Adopt(std::uint64_t generation, Store* store) {
  Disk& disk = store->disk();
  const StoreDirectory& own = store->directory();
  const GenerationName partial{generation, GenerationState::kPartial};
  const Result<Manifest> manifest = store->Verify(partial);
  if (!manifest.ok()) {
    return manifest.error;
  }
  const Result<OpenFile> directory = store->OpenGeneration(partial);
  if (!directory.ok()) {
    return directory.error;
  }
  std::vector<std::string> names = {kManifestName};
  for (const ShardSeal& seal : manifest.value.shards) {
    names.push_back(ShardName(seal.rank));
  }
  for (const std::string& name : names) {
    std::uint64_t size = 0;
    const Result<int> fd = OpenOwnFile(disk, directory.value.get(), name, &size);
    const OpenFile file(disk, fd.ok() ? fd.value : -1);
    if (!fd.ok() || disk.Flush(file.get()) != 0) {
      return fd.ok() ? SystemError(ToText(partial) + ": " + name + ": fsync", errno) : fd.error;
    }
  }
  if (disk.Flush(directory.value.get()) != 0) {
    return SystemError(ToText(partial) + ": fsync", errno);
  }
  Error error = own.Rename(ToText(partial), ToText({generation, GenerationState::kComplete}));
  error = error.failed() ? error : own.Flush();
  return error.failed() ? error : own.ReplaceLatest(generation);
}

}  // namespace muster::checkpoint
