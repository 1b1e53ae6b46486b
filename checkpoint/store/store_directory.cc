#include "checkpoint/store/store_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "checkpoint/disk/own_file.h"

namespace muster::checkpoint {

Error FileErrorOf(const std::string& name, const FileError& error) {
  return error.failed() ? MakeError(Fault::kSystem, name + ": " + error.Text()) : Error();
}

Result<StoreDirectory> StoreDirectory::Open(Disk& disk, const std::string& path) {
  OpenFile directory(disk,
                     disk.OpenAt(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
  struct stat about {};
  if (!directory.ok() || disk.Stat(directory.get(), &about) != 0) {
    return {{}, SystemError(path, errno)};
  }
  if (about.st_uid != geteuid()) {
    return {{}, MakeError(Fault::kForeign, path + ": belongs to another user")};
  }
  return {StoreDirectory(disk, path, std::move(directory)), {}};
}

Result<std::vector<std::string>> StoreDirectory::Entries() const {
  std::vector<std::string> names;
  const bool ok = disk_->List(fd(), &names) == 0;
  return {std::move(names), ok ? Error() : SystemError(path_ + ": list", errno)};
}

Result<OpenFile> StoreDirectory::OpenEntry(const std::string& name) const {
  const Result<int> entry = OpenOwnDirectory(*disk_, fd(), name);
  return {OpenFile(*disk_, entry.ok() ? entry.value : -1), entry.error};
}

Error StoreDirectory::Rename(const std::string& from, const std::string& to) const {
  return disk_->RenameNewAt(fd(), from.c_str(), to.c_str()) == 0
             ? Error()
             : SystemError(from + ": rename", errno);
}

Error StoreDirectory::RemoveFiles(const std::string& name) const {
  const Result<OpenFile> directory = OpenEntry(name);
  if (!directory.ok()) {
    return directory.error;
  }
  std::vector<std::string> names;
  if (disk_->List(directory.value.get(), &names) != 0) {
    return SystemError(name + ": list", errno);
  }
  for (const std::string& each : names) {
    if (disk_->UnlinkAt(directory.value.get(), each.c_str(), 0) != 0) {
      return SystemError(name + ": remove", errno);
    }
  }
  return disk_->UnlinkAt(fd(), name.c_str(), AT_REMOVEDIR) == 0
             ? Error()
             : SystemError(name + ": rmdir", errno);
}

Error StoreDirectory::Flush() const {
  return disk_->Flush(fd()) == 0 ? Error() : SystemError(path_ + ": fsync", errno);
}

Error StoreDirectory::WriteLatest(std::uint64_t generation, DurableFile* latest) {
  const std::string line = ToText({generation, GenerationState::kComplete}) + "\n";
  FileError error = latest->Open();
  error = error.failed() ? error : latest->Write(line.data(), line.size());
  return FileErrorOf(kLatestName, error);
}

Error StoreDirectory::ReplaceLatest(std::uint64_t generation) const {
  DurableFile latest = Latest();
  const Error error = WriteLatest(generation, &latest);
  return error.failed() ? error : FileErrorOf(kLatestName, latest.Commit());
}

}  // namespace muster::checkpoint
