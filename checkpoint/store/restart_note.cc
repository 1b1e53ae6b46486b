#include "checkpoint/store/restart_note.h"

#include <algorithm>
#include <cerrno>
#include <string>

#include "checkpoint/disk/own_file.h"

namespace muster::checkpoint {
namespace {

constexpr std::size_t kNoteBytesMax = 64;

}  // namespace

Error RestartNote::Note(std::uint64_t generation) const {
  const std::string line = ToText({generation, GenerationState::kComplete}) + "\n";
  return FileErrorOf(kRestartingName, WriteDurably(directory_->path() + "/" + kRestartingName,
                                                   line.data(), line.size(), directory_->disk()));
}

Error RestartNote::Confirm() const {
  if (directory_->disk().UnlinkAt(directory_->fd(), kRestartingName, 0) != 0) {
    return errno == ENOENT ? Error() : SystemError(kRestartingName, errno);
  }
  return directory_->Flush();
}

Result<std::optional<std::uint64_t>> RestartNote::Noted() const {
  std::uint64_t size = 0;
  const Result<int> fd = OpenOwnFile(directory_->disk(), directory_->fd(), kRestartingName, &size);
  if (fd.error.fault == Fault::kCorrupt) {  // it is not there
    return {};
  }
  if (!fd.ok()) {
    return {{}, fd.error};
  }
  const OpenFile file(directory_->disk(), fd.value);
  std::string line(std::min<std::uint64_t>(size, kNoteBytesMax), '\0');
  if (Error error = ReadFully(directory_->disk(), file.get(), line.data(), line.size(), 0);
      error.failed()) {
    return {{}, error};
  }
  const auto name = ParseGenerationName(line.substr(0, line.find('\n')));
  return {name ? std::optional(name->number) : std::nullopt, {}};
}

Result<bool> RestartNote::SetAside(std::uint64_t generation) const {
  const std::string from = ToText({generation, GenerationState::kComplete});
  const std::string to = ToText({generation, GenerationState::kSetAside});
  if (directory_->disk().RenameNewAt(directory_->fd(), from.c_str(), to.c_str()) == 0) {
    return {true, {}};
  }
  // ENOENT: it was set aside before, or is gone.
  return {false, errno == ENOENT ? Error() : SystemError(from + ": rename", errno)};
}

Result<std::optional<std::uint64_t>> RestartNote::SetAsideFailed() const {
  auto noted = Noted();
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
  return {aside.value ? noted.value : std::nullopt, Confirm()};
}

}  // namespace muster::checkpoint
