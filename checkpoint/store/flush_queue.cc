#include "checkpoint/store/flush_queue.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "checkpoint/disk/disk.h"
#include "checkpoint/disk/durable_file.h"
#include "checkpoint/disk/names.h"
#include "checkpoint/disk/own_file.h"

namespace muster::checkpoint {
namespace {

constexpr std::uint64_t kLineBytesMax = 500;

std::string WaitingName(std::uint64_t generation) {
  return ToText(FlushName{generation, false});
}

std::string BegunName(std::uint64_t generation) {
  return ToText(FlushName{generation, true});
}

}  // namespace

Result<FlushQueue> FlushQueue::Open(Disk& disk, const std::string& path) {
  OpenFile directory(disk,
                     disk.OpenAt(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
  if (!directory.ok()) {
    return {{}, SystemError(path, errno)};
  }
  return {FlushQueue(disk, path, std::move(directory)), {}};
}

Error FlushQueue::Add(std::uint64_t generation) {
  const std::string name = WaitingName(generation);
  const OpenFile file(*disk_,
                      disk_->OpenAt(directory_.get(), name.c_str(),
                                    O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, kPrivateFile));
  return file.ok() ? Error() : SystemError(path_ + "/" + name, errno);
}

bool FlushQueue::Withdraw(std::uint64_t generation) {
  return disk_->UnlinkAt(directory_.get(), WaitingName(generation).c_str(), 0) == 0;
}

Result<std::vector<std::uint64_t>> FlushQueue::Unflushed() const {
  std::vector<std::string> names;
  if (disk_->List(directory_.get(), &names) != 0) {
    return {{}, SystemError(path_ + ": list", errno)};
  }
  std::vector<std::uint64_t> numbers;
  for (const std::string& name : names) {
    if (const auto flush = ParseFlushName(name)) {
      numbers.push_back(flush->number);
    }
  }
  std::sort(numbers.begin(), numbers.end());
  return {std::move(numbers), {}};
}

Result<std::vector<std::uint64_t>> FlushQueue::Waiting() const {
  Result<std::vector<std::uint64_t>> numbers = Unflushed();
  const auto begun = [this](std::uint64_t number) {
    struct stat about {};
    return disk_->StatAt(directory_.get(), WaitingName(number).c_str(), &about) != 0;
  };
  numbers.value.erase(std::remove_if(numbers.value.begin(), numbers.value.end(), begun),
                      numbers.value.end());
  return numbers;
}

std::string FlushQueue::TakeError() {
  std::uint64_t size = 0;
  const Result<int> fd = OpenOwnFile(*disk_, directory_.get(), kFlushErrorName, &size);
  if (!fd.ok()) {
    return "";
  }
  const OpenFile file(*disk_, fd.value);
  std::string line(std::min(size, kLineBytesMax), '\0');
  (void)ReadFully(*disk_, file.get(), line.data(), line.size(), 0);
  disk_->UnlinkAt(directory_.get(), kFlushErrorName, 0);
  return line.substr(0, line.find('\n'));
}

Result<bool> FlushQueue::Lock(OpenFile* lock) {
  OpenFile file(
      *disk_, disk_->OpenAt(directory_.get(), kFlushLockName,
                            O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, kPrivateFile));
  if (!file.ok()) {
    return {false, SystemError(path_ + "/" + kFlushLockName, errno)};
  }
  if (disk_->LockExclusively(file.get()) != 0) {
    return {false, errno == EWOULDBLOCK ? Error() : SystemError(path_ + ": lock", errno)};
  }
  *lock = std::move(file);
  return {true, {}};
}

Result<std::uint64_t> FlushQueue::BeginOldest() {
  const Result<std::vector<std::uint64_t>> numbers = Unflushed();
  for (const std::uint64_t number : numbers.value) {
    struct stat about {};
    // Begun by a helper that died; or begun now, unless it was withdrawn meanwhile.
    if (disk_->StatAt(directory_.get(), BegunName(number).c_str(), &about) == 0 ||
        disk_->RenameAt(directory_.get(), WaitingName(number).c_str(), BegunName(number).c_str()) ==
            0) {
      return {number, {}};
    }
    if (errno != ENOENT) {
      return {0, SystemError(path_ + "/" + WaitingName(number), errno)};
    }
  }
  return {0, numbers.error};
}

double FlushQueue::SecondsSinceAdded(std::uint64_t generation) const {
  constexpr double kNanosecond = 1e-9;
  struct stat about {};
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (disk_->StatAt(directory_.get(), BegunName(generation).c_str(), &about) != 0) {
    return 0;
  }
  const double since = static_cast<double>(now.tv_sec - about.st_mtim.tv_sec) +
                       kNanosecond * static_cast<double>(now.tv_nsec - about.st_mtim.tv_nsec);
  return std::max(since, 0.0);
}

void FlushQueue::End(std::uint64_t generation) {
  disk_->UnlinkAt(directory_.get(), BegunName(generation).c_str(), 0);
}

void FlushQueue::Fail(const std::string& line) {
  std::string text = line.substr(0, kLineBytesMax - 1) + "\n";
  (void)WriteDurably(path_ + "/" + kFlushErrorName, text.data(), text.size(), *disk_);
}

}  // namespace muster::checkpoint
