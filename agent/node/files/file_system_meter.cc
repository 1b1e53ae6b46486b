#include "agent/node/files/file_system_meter.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <cstddef>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/time_shares.h"
#include "scheduler/runtime/file.h"

namespace muster::agent {
namespace {

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
  Uses uses;
  now_.clear();
  Tables tables;
  std::erase_if(next_, [&](const auto& each) { return trees.count(each.first) == 0; });
  ShareTime(trees, std::chrono::steady_clock::now, std::chrono::steady_clock::now() + limit_,
            [&](const TreesIo::value_type& tree, Instant deadline) {
              LookAt(tree.first, tree.second, deadline, tables, uses);
              return true;
            });
  before_ = std::exchange(now_, {});
  first_ = false;
  return uses;
}

void FileSystemMeter::LookAt(pid_t tree, const std::vector<ProcessIo>& processes, Instant deadline,
                             Tables& tables, Uses& uses) {
  const auto stopped = std::find_if(processes.begin(), processes.end(), [&](const auto& process) {
    return process.pid == next_[tree];
  });
  const std::size_t first =
      stopped == processes.end() ? 0 : static_cast<std::size_t>(stopped - processes.begin());
  next_.erase(tree);
  for (std::size_t j = 0; j < processes.size(); ++j) {
    const ProcessIo& process = processes[(first + j) % processes.size()];
    if (first_ || std::chrono::steady_clock::now() < deadline) {
      LookAt(process, tables, uses[tree]);
      now_.emplace(process.pid, process);
      continue;
    }
    next_.try_emplace(tree, process.pid);
    if (const auto known = before_.find(process.pid); known != before_.end()) {
      now_.insert(*known);
    }
  }
  if (uses[tree].empty()) {
    uses.erase(tree);
  }
}

void FileSystemMeter::LookAt(const ProcessIo& process, Tables& tables,
                             std::vector<FileSystemUse>& uses) {
  const auto known = before_.find(process.pid);
  const ProcessIo before = known == before_.end() ? ProcessIo() : known->second;
  const Bytes read = GrownBy(process.read, before.read);
  const Bytes written = GrownBy(process.written, before.written);
  if (first_ || process.children_faults != before.children_faults ||
      (read < kLeast && written < kLeast)) {
    return;
  }
  const OpenOn open_on = FilesOf(process.pid, tables);
  if (!open_on.reading.empty() && !read.zero()) {
    AddFileSystems({{open_on.reading, read, Bytes()}}, uses);
  }
  if (!open_on.writing.empty() && !written.zero()) {
    AddFileSystems({{open_on.writing, Bytes(), written}}, uses);
  }
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
  int left = kFilesMost + 2;  // "." and ".."
  // NOLINTNEXTLINE(concurrency-mt-unsafe): a stream of our own
  for (const dirent* entry = readdir(files.get()); entry != nullptr;
       entry = readdir(files.get())) {  // NOLINT(concurrency-mt-unsafe)
    if (left-- == 0) {
      return {};
    }
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
  if (known != tables.end()) {
    return known->second;
  }
  // Users make as many namespaces and mounts as they like.
  const bool many = tables.size() >= kSpacesMost;
  return tables
      .emplace(
          many ? "too many" : space,
          MountTable(many ? "" : ReadFile(directory + "/mountinfo", kMountBytesMost).value_or("")))
      .first->second;
}

}  // namespace muster::agent
