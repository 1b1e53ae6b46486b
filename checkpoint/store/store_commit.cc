// The writing side of Store: beginning, committing, retiring and setting aside generations.

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "checkpoint/disk/disk.h"
#include "checkpoint/disk/durable_file.h"
#include "checkpoint/disk/own_file.h"
#include "checkpoint/store/store.h"

namespace muster::checkpoint {
namespace {

constexpr std::size_t kNoteBytesMax = 64;

Error FileErrorOf(const std::string& name, const FileError& error) {
  return error.failed() ? MakeError(Fault::kSystem, name + ": " + error.Text()) : Error();
}

}  // namespace

Error Store::FlushDirectory() {
  return disk_->Flush(directory_.get()) == 0 ? Error() : SystemError(path_ + ": fsync", errno);
}

Error Store::LockForWriting() {
  if (lock_.ok()) {
    return {};
  }
  OpenFile lock(
      *disk_, disk_->OpenAt(directory_.get(), kLockName,
                            O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, kPrivateFile));
  if (!lock.ok()) {
    return SystemError(path_ + "/" + kLockName, errno);
  }
  if (disk_->LockExclusively(lock.get()) != 0) {
    return errno == EWOULDBLOCK
               ? MakeError(Fault::kBusy, path_ + ": another living program writes there")
               : SystemError(path_ + "/" + kLockName, errno);
  }
  lock_ = std::move(lock);
  return {};
}

Result<std::uint64_t> Store::Next() const {
  std::vector<std::string> names;
  if (disk_->List(directory_.get(), &names) != 0) {
    return {0, SystemError(path_ + ": list", errno)};
  }
  std::uint64_t number = 1;
  for (const std::string& name : names) {
    const auto generation = ParseGenerationName(name);
    const auto arrival = ParseArrivalName(name);
    number = std::max(number, generation ? generation->number + 1 : 0);
    number = std::max(number, arrival ? arrival->number + 1 : 0);
  }
  return {number, {}};
}

Result<std::uint64_t> Store::Begin() {
  const Result<std::uint64_t> number = Next();
  return number.ok() ? Result<std::uint64_t>{number.value, BeginAs(number.value)} : number;
}

Error Store::BeginAs(std::uint64_t number) {
  const Result<std::vector<GenerationName>> generations = List();
  if (!generations.ok()) {
    return generations.error;
  }
  for (const GenerationName& name : generations.value) {
    if (name.state == GenerationState::kPartial || name.state == GenerationState::kDoomed) {
      if (Error error = RemoveFiles(ToText(name)); error.failed()) {
        return error;
      }
    }
  }
  if (number > kGenerationMax) {
    return MakeError(Fault::kUsage, path_ + ": there are no numbers left");
  }
  const std::string name = ToText({number, GenerationState::kPartial});
  return disk_->MakeDirectoryAt(directory_.get(), name.c_str(), kPrivateDirectory) == 0
             ? Error()
             : SystemError(name + ": mkdir", errno);
}

Result<ShardSeal> Store::Write(const ShardHead& head,
                               const std::vector<RegionBytes>& regions) const {
  const Result<int> fd = OpenOwnDirectory(*disk_, directory_.get(),
                                          ToText({head.generation, GenerationState::kPartial}));
  if (!fd.ok()) {
    return {{}, fd.error};
  }
  const OpenFile directory(*disk_, fd.value);
  return WriteShard(*disk_, directory.get(), head, regions);
}

Error Store::WriteManifest(int directory, const Manifest& manifest) {
  OpenFile file(*disk_,
                disk_->OpenAt(directory, kManifestName,
                              O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kPrivateFile));
  if (!file.ok()) {
    return SystemError("manifest: create", errno);
  }
  const std::string text = PrintManifest(manifest);
  if (Error error = WriteFully(*disk_, file.get(), text.data(), text.size()); error.failed()) {
    return MakeError(error.fault, "manifest: " + error.text);
  }
  if (disk_->Flush(file.get()) != 0) {
    return SystemError("manifest: fsync", errno);
  }
  return file.Close() == 0 ? Error() : SystemError("manifest: close", errno);
}

Error Store::Commit(const Manifest& manifest) {
  const std::string partial = ToText({manifest.generation, GenerationState::kPartial});
  const std::string complete = ToText({manifest.generation, GenerationState::kComplete});
  const Result<int> fd = OpenOwnDirectory(*disk_, directory_.get(), partial);
  if (!fd.ok()) {
    return fd.error;
  }
  const OpenFile directory(*disk_, fd.value);
  // Written before the manifest is flushed: what a file system writes at once costs one wait.
  DurableFile latest(path_ + "/" + kLatestName, *disk_);
  if (Error error = WriteLatest(manifest.generation, &latest); error.failed()) {
    return error;
  }
  latest.BeginFlush();
  if (Error error = WriteManifest(directory.get(), manifest); error.failed()) {
    return MakeError(error.fault, partial + ": " + error.text);
  }
  if (Error error = FileErrorOf(kLatestName, latest.Flush()); error.failed()) {
    return error;
  }
  // The names of the shards and of the manifest, before the name that says that they are there.
  if (disk_->Flush(directory.get()) != 0) {
    return SystemError(partial + ": fsync", errno);
  }
  if (disk_->RenameNewAt(directory_.get(), partial.c_str(), complete.c_str()) != 0) {
    return SystemError(partial + ": rename", errno);
  }
  if (Error error = FlushDirectory(); error.failed()) {
    return error;
  }
  return FileErrorOf(kLatestName, latest.Commit());
}

Error Store::WriteLatest(std::uint64_t generation, DurableFile* latest) const {
  const std::string line = ToText({generation, GenerationState::kComplete}) + "\n";
  FileError error = latest->Open();
  error = error.failed() ? error : latest->Write(line.data(), line.size());
  return FileErrorOf(kLatestName, error);
}

Error Store::ReplaceLatest(std::uint64_t generation) const {
  DurableFile latest(path_ + "/" + kLatestName, *disk_);
  const Error error = WriteLatest(generation, &latest);
  return error.failed() ? error : FileErrorOf(kLatestName, latest.Commit());
}

void Store::Abandon(std::uint64_t generation) {
  // What cannot be removed now, the next Begin removes.
  (void)RemoveFiles(ToText({generation, GenerationState::kPartial}));
}

// Not recursive: a generation holds files only, and what is a directory in it is not ours.
Error Store::RemoveFiles(const std::string& name) {
  const Result<int> fd = OpenOwnDirectory(*disk_, directory_.get(), name);
  if (!fd.ok()) {
    return fd.error;
  }
  const OpenFile directory(*disk_, fd.value);
  std::vector<std::string> names;
  if (disk_->List(directory.get(), &names) != 0) {
    return SystemError(name + ": list", errno);
  }
  for (const std::string& each : names) {
    if (disk_->UnlinkAt(directory.get(), each.c_str(), 0) != 0) {
      return SystemError(name + ": remove", errno);
    }
  }
  return disk_->UnlinkAt(directory_.get(), name.c_str(), AT_REMOVEDIR) == 0
             ? Error()
             : SystemError(name + ": rmdir", errno);
}

Error Store::Remove(const GenerationName& name) {
  const std::string doomed = ToText({name.number, GenerationState::kDoomed});
  if (name.state != GenerationState::kDoomed &&
      disk_->RenameNewAt(directory_.get(), ToText(name).c_str(), doomed.c_str()) != 0) {
    return SystemError(ToText(name) + ": rename", errno);
  }
  return RemoveFiles(doomed);
}

Result<std::vector<std::uint64_t>> Store::SurplusBut(std::uint64_t newest,
                                                     const Retention& retention) const {
  const Result<std::vector<GenerationName>> generations = List();
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
      const Result<Manifest> manifest = ReadManifest(name);
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

Error Store::Retire(std::uint64_t newest, const Retention& retention) {
  const Result<std::vector<std::uint64_t>> surplus = SurplusBut(newest, retention);
  if (!surplus.ok() || surplus.value.empty()) {
    return surplus.error;
  }
  const Result<Manifest> verified = Verify({newest, GenerationState::kComplete});
  return verified.ok() ? RetireVerified(newest, retention) : verified.error;
}

Error Store::RetireVerified(std::uint64_t newest, const Retention& retention) {
  const Result<std::vector<std::uint64_t>> surplus = SurplusBut(newest, retention);
  for (const std::uint64_t number : surplus.value) {
    if (Error error = Remove({number, GenerationState::kComplete}); error.failed()) {
      return error;
    }
  }
  return surplus.error;
}

Error Store::NoteRestart(std::uint64_t generation) {
  const std::string line = ToText({generation, GenerationState::kComplete}) + "\n";
  return FileErrorOf(kRestartingName,
                     WriteDurably(path_ + "/" + kRestartingName, line.data(), line.size(), *disk_));
}

Error Store::ConfirmRestart() {
  if (disk_->UnlinkAt(directory_.get(), kRestartingName, 0) != 0) {
    return errno == ENOENT ? Error() : SystemError(kRestartingName, errno);
  }
  return FlushDirectory();
}

Result<std::optional<std::uint64_t>> Store::NotedRestart() const {
  std::uint64_t size = 0;
  const Result<int> fd = OpenOwnFile(*disk_, directory_.get(), kRestartingName, &size);
  if (fd.error.fault == Fault::kCorrupt) {  // it is not there
    return {};
  }
  if (!fd.ok()) {
    return {{}, fd.error};
  }
  const OpenFile file(*disk_, fd.value);
  std::string line(std::min<std::uint64_t>(size, kNoteBytesMax), '\0');
  if (Error error = ReadFully(*disk_, file.get(), line.data(), line.size(), 0); error.failed()) {
    return {{}, error};
  }
  const auto name = ParseGenerationName(line.substr(0, line.find('\n')));
  return {name ? std::optional(name->number) : std::nullopt, {}};
}

Result<bool> Store::SetAside(std::uint64_t generation) {
  const std::string from = ToText({generation, GenerationState::kComplete});
  const std::string to = ToText({generation, GenerationState::kSetAside});
  if (disk_->RenameNewAt(directory_.get(), from.c_str(), to.c_str()) == 0) {
    return {true, {}};
  }
  // ENOENT: it was set aside before, or is gone.
  return {false, errno == ENOENT ? Error() : SystemError(from + ": rename", errno)};
}

Result<std::optional<std::uint64_t>> Store::SetAsideFailed() {
  auto noted = NotedRestart();
  if (!noted.ok()) {
    return noted;
  }
  Result<bool> aside;
  if (noted.value) {
    aside = SetAside(*noted.value);
  }
  if (!aside.ok()) {
    return {{}, aside.error};
  }
  return {aside.value ? noted.value : std::nullopt, ConfirmRestart()};
}

}  // namespace muster::checkpoint
