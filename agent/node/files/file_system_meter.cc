#include "agent/node/files/file_system_meter.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstddef>
#include <memory>
#include <set>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "scheduler/runtime/file.h"

namespace muster::agent {
namespace {

constexpr int kFilesMost = 1024;  // of one process

std::string LinkAt(int directory, const char* path) {
  std::array<char, PATH_MAX> target{};
  const ssize_t length = readlinkat(directory, path, target.data(), target.size());
  return {target.data(), length > 0 ? static_cast<std::size_t>(length) : 0};
}

std::string OnlyOne(const std::set<std::string>& mounts) {
  return mounts.size() == 1 ? *mounts.begin() : "";
}

}  // namespace

std::map<pid_t, std::vector<FileSystemUse>> FileSystemMeter::Look(const TreesIo& trees) {
  std::map<pid_t, std::vector<FileSystemUse>> uses;
  std::unordered_map<pid_t, ProcessIo> now;
  Tables tables;
  for (const auto& [tree, processes] : trees) {
    for (const ProcessIo& process : processes) {
      now.emplace(process.pid, process);
      const auto known = before_.find(process.pid);
      const ProcessIo before = known == before_.end() ? ProcessIo() : known->second;
      const Bytes read = GrownBy(process.read, before.read);
      const Bytes written = GrownBy(process.written, before.written);
      if (first_ || process.children_faults != before.children_faults ||
          (read < kLeast && written < kLeast)) {
        continue;
      }
      const OpenOn open_on = FilesOf(process.pid, tables);
      if (!open_on.reading.empty() && !read.zero()) {
        AddFileSystems({{open_on.reading, read, Bytes()}}, uses[tree]);
      }
      if (!open_on.writing.empty() && !written.zero()) {
        AddFileSystems({{open_on.writing, Bytes(), written}}, uses[tree]);
      }
    }
  }
  before_ = std::move(now);
  first_ = false;
  return uses;
}

FileSystemMeter::OpenOn FileSystemMeter::FilesOf(pid_t pid, Tables& tables) const {
  const std::unique_ptr<DIR, int (*)(DIR*)> files(
      opendir(absl::StrCat(proc_, "/", pid, "/fd").c_str()), closedir);
  if (files == nullptr) {
    return {};
  }
  const MountTable& table = TableOf(pid, tables);
  std::set<std::string> reading;
  std::set<std::string> writing;
  int left = kFilesMost;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): a stream of our own
  for (const dirent* entry = readdir(files.get()); entry != nullptr && left-- > 0;
       entry = readdir(files.get())) {  // NOLINT(concurrency-mt-unsafe)
    const std::string path = LinkAt(dirfd(files.get()), entry->d_name);
    struct stat link {};  // its rights are those with which the file was opened
    if (path.substr(0, 1) != "/" ||
        fstatat(dirfd(files.get()), entry->d_name, &link, AT_SYMLINK_NOFOLLOW) != 0) {
      continue;
    }
    const Mount* const mount = table.Find(path);
    if (mount == nullptr || !IsStorage(mount->type)) {
      continue;
    }
    if ((link.st_mode & S_IRUSR) != 0) {
      reading.insert(mount->point);
    }
    if ((link.st_mode & S_IWUSR) != 0) {
      writing.insert(mount->point);
    }
  }
  return {OnlyOne(reading), OnlyOne(writing)};
}

const MountTable& FileSystemMeter::TableOf(pid_t pid, Tables& tables) const {
  const std::string directory = absl::StrCat(proc_, "/", pid);
  const std::string space = LinkAt(AT_FDCWD, (directory + "/ns/mnt").c_str());
  const auto known = tables.find(space);
  return known != tables.end()
             ? known->second
             : tables.emplace(space, MountTable(ReadFile(directory + "/mountinfo").value_or("")))
                   .first->second;
}

}  // namespace muster::agent
