#include "tests/faults/served_disk.h"

#define FUSE_USE_VERSION 312
#include <fuse3/fuse.h>
#include <sys/mount.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

namespace muster {
namespace {

using Info = fuse_file_info;

constexpr unsigned kThreads = 64;  // calls that can wait for the power at once

ServedDisk& Served() {
  return *static_cast<ServedDisk*>(fuse_get_context()->private_data);
}

// What `path` or, where a file is open, `info` stands for; null where that is nothing.
DiskNodePtr Named(const ServedDisk::Turn& turn, const char* path, const Info* info) {
  return info != nullptr && info->fh != 0 ? turn.Opened(info->fh)
         : path != nullptr                ? turn.disk().Find(path)
                                          : nullptr;
}

// Calls `work` with the disk when there is power.
template <typename Work>
int WithPower(Work work) {
  const ServedDisk::Turn turn(Served());
  return turn.failed() ? -EIO : work(turn);
}

// The same with the file.
template <typename Work>
int WithNode(const char* path, const Info* info, Work work) {
  return WithPower([&](const ServedDisk::Turn& turn) {
    const DiskNodePtr node = Named(turn, path, info);
    return node == nullptr ? -ENOENT : work(turn, *node);
  });
}

DiskAttributes AttributesOfCaller(mode_t mode) {
  DiskAttributes attributes;
  attributes.mode = mode;
  attributes.uid = fuse_get_context()->uid;
  attributes.gid = fuse_get_context()->gid;
  return attributes;
}

struct stat StatOf(const DiskNode& node) {
  struct stat found = {};
  found.st_ino = node.number;
  found.st_mode = node.attributes.mode;
  found.st_nlink = node.links;
  found.st_uid = node.attributes.uid;
  found.st_gid = node.attributes.gid;
  found.st_size = static_cast<off_t>(node.data.size());
  found.st_blocks = (found.st_size + 511) / 512;
  found.st_atim = node.attributes.accessed;
  found.st_mtim = node.attributes.modified;
  found.st_ctim = node.attributes.modified;
  return found;
}

void* Initialize(fuse_conn_info*, fuse_config* config) {
  config->use_ino = 1;
  config->nullpath_ok = 1;
  config->hard_remove = 1;
  config->kernel_cache = 1;
  return fuse_get_context()->private_data;
}

int GetAttributes(const char* path, struct stat* found, Info* info) {
  return WithNode(path, info, [&](const ServedDisk::Turn&, const DiskNode& node) {
    *found = StatOf(node);
    return 0;
  });
}

int ReadLink(const char* path, char* buffer, std::size_t size) {
  return WithNode(path, nullptr, [&](const ServedDisk::Turn&, const DiskNode& node) {
    std::snprintf(buffer, size, "%s", node.data.c_str());
    return 0;
  });
}

int MakeNode(const char* path, mode_t mode, dev_t) {
  return WithPower([&](const ServedDisk::Turn& turn) {
    return turn.disk().Make(path, AttributesOfCaller(mode), "");
  });
}

int MakeDirectory(const char* path, mode_t mode) {
  return MakeNode(path, mode | S_IFDIR, 0);
}

int MakeLink(const char* target, const char* path) {
  return WithPower([&](const ServedDisk::Turn& turn) {
    return turn.disk().Make(path, AttributesOfCaller(S_IFLNK | 0777), target);
  });
}

int Unlink(const char* path) {
  return WithPower([&](const ServedDisk::Turn& turn) { return turn.disk().Unlink(path); });
}

int RemoveDirectory(const char* path) {
  return WithPower([&](const ServedDisk::Turn& turn) { return turn.disk().RemoveDirectory(path); });
}

int Rename(const char* from, const char* to, unsigned flags) {
  return WithPower([&](const ServedDisk::Turn& turn) {
    return (flags & ~RENAME_NOREPLACE) != 0 ? -EINVAL : turn.disk().Rename(from, to, flags == 0);
  });
}

int Link(const char* from, const char* to) {
  return WithPower([&](const ServedDisk::Turn& turn) { return turn.disk().Link(from, to); });
}

int ChangeMode(const char* path, mode_t mode, Info* info) {
  return WithNode(path, info, [&](const ServedDisk::Turn&, DiskNode& node) {
    node.attributes.mode = (node.attributes.mode & S_IFMT) | (mode & ~S_IFMT);
    return 0;
  });
}

int ChangeOwner(const char* path, uid_t uid, gid_t gid, Info* info) {
  return WithNode(path, info, [&](const ServedDisk::Turn&, DiskNode& node) {
    node.attributes.uid = uid == static_cast<uid_t>(-1) ? node.attributes.uid : uid;
    node.attributes.gid = gid == static_cast<gid_t>(-1) ? node.attributes.gid : gid;
    return 0;
  });
}

int ChangeTimes(const char* path, const timespec* times, Info* info) {
  return WithNode(path, info, [&](const ServedDisk::Turn&, DiskNode& node) {
    timespec now = {};
    clock_gettime(CLOCK_REALTIME, &now);
    const auto change = [&](timespec& old, const timespec& time) {
      old = time.tv_nsec == UTIME_OMIT ? old : time.tv_nsec == UTIME_NOW ? now : time;
    };
    change(node.attributes.accessed, times[0]);
    change(node.attributes.modified, times[1]);
    return 0;
  });
}

int Truncate(const char* path, off_t size, Info* info) {
  return WithNode(path, info, [&](const ServedDisk::Turn&, DiskNode& node) {
    ForgetfulDisk::Truncate(node, static_cast<std::uint64_t>(size));
    return 0;
  });
}

int Open(const char* path, Info* info) {
  return WithPower([&](const ServedDisk::Turn& turn) {
    DiskNodePtr node = turn.disk().Find(path);
    if (node == nullptr) {
      return -ENOENT;
    }
    info->fh = turn.Open(std::move(node));
    return 0;
  });
}

int Create(const char* path, mode_t mode, Info* info) {
  return WithPower([&](const ServedDisk::Turn& turn) {
    DiskNodePtr node;
    const int made = turn.disk().Make(path, AttributesOfCaller(mode), "", &node);
    info->fh = made == 0 ? turn.Open(std::move(node)) : 0;
    return made;
  });
}

int Read(const char* path, char* buffer, std::size_t size, off_t offset, Info* info) {
  return WithNode(path, info, [&](const ServedDisk::Turn&, const DiskNode& node) {
    const auto from = std::min(static_cast<std::size_t>(offset), node.data.size());
    const std::size_t length = std::min(size, node.data.size() - from);
    std::memcpy(buffer, node.data.data() + from, length);
    return static_cast<int>(length);
  });
}

int Write(const char* path, const char* bytes, std::size_t size, off_t offset, Info* info) {
  return WithNode(path, info, [&](const ServedDisk::Turn&, DiskNode& node) {
    ForgetfulDisk::Write(node, static_cast<std::uint64_t>(offset), {bytes, size});
    return static_cast<int>(size);
  });
}

int Sync(const char* path, int, Info* info) {
  return WithNode(path, info, [&](const ServedDisk::Turn& turn, DiskNode& node) {
    turn.disk().Sync(node);
    return 0;
  });
}

int Release(const char*, Info* info) {
  return WithPower([&](const ServedDisk::Turn& turn) {
    turn.Close(info->fh);
    return 0;
  });
}

int ReadDirectory(const char* path, void* buffer, fuse_fill_dir_t fill, off_t, Info* info,
                  fuse_readdir_flags) {
  return WithNode(path, info, [&](const ServedDisk::Turn&, const DiskNode& node) {
    constexpr auto kPlain = static_cast<fuse_fill_dir_flags>(0);
    fill(buffer, ".", nullptr, 0, kPlain);
    fill(buffer, "..", nullptr, 0, kPlain);
    for (const auto& [name, entry] : node.entries) {
      const struct stat found = StatOf(*entry);
      fill(buffer, name.c_str(), &found, 0, kPlain);
    }
    return 0;
  });
}

int Space(const char*, struct statvfs* found) {
  return WithPower([&](const ServedDisk::Turn&) {
    found->f_bsize = 4096;
    found->f_frsize = 4096;
    found->f_blocks = found->f_bfree = found->f_bavail = std::uint64_t{1} << 20;
    found->f_files = found->f_ffree = found->f_favail = std::uint64_t{1} << 20;
    found->f_namemax = 255;
    return 0;
  });
}

fuse_operations Operations() {
  fuse_operations calls = {};
  calls.init = Initialize;
  calls.getattr = GetAttributes;
  calls.readlink = ReadLink;
  calls.mknod = MakeNode;
  calls.mkdir = MakeDirectory;
  calls.symlink = MakeLink;
  calls.unlink = Unlink;
  calls.rmdir = RemoveDirectory;
  calls.rename = Rename;
  calls.link = Link;
  calls.chmod = ChangeMode;
  calls.chown = ChangeOwner;
  calls.utimens = ChangeTimes;
  calls.truncate = Truncate;
  calls.open = Open;
  calls.create = Create;
  calls.read = Read;
  calls.write = Write;
  calls.fsync = Sync;
  calls.release = Release;
  calls.opendir = Open;
  calls.readdir = ReadDirectory;
  calls.releasedir = Release;
  calls.fsyncdir = Sync;
  calls.statfs = Space;
  return calls;
}

}  // namespace

ServedDisk::Turn::Turn(ServedDisk& served) : served_(served), hold_(served.mutex_) {
  served.changed_.wait(hold_, [&served] { return served.power_ != Power::kOff; });
}

DiskNodePtr ServedDisk::Turn::Opened(std::uint64_t number) const {
  const auto found = served_.opened_.find(number);
  return found == served_.opened_.end() ? nullptr : found->second;
}

std::uint64_t ServedDisk::Turn::Open(DiskNodePtr node) const {
  served_.opened_[++served_.opened_last_] = std::move(node);
  return served_.opened_last_;
}

bool ServedDisk::Mount() {
  static const fuse_operations calls = Operations();
  std::array<char*, 3> words = {strdup("forgetful"), strdup("-o"),
                                strdup("fsname=forgetful,default_permissions")};
  fuse_args arguments = FUSE_ARGS_INIT(static_cast<int>(words.size()), words.data());
  fuse_ = fuse_new(&arguments, &calls, sizeof(calls), this);
  fuse_opt_free_args(&arguments);
  std::for_each(words.begin(), words.end(), std::free);
  if (fuse_ == nullptr || fuse_mount(fuse_, mount_point_.c_str()) != 0) {
    return false;
  }
  SetPower(Power::kOn);
  return true;
}

void ServedDisk::Loop() {
  fuse_loop_config* config = fuse_loop_cfg_create();
  fuse_loop_cfg_set_max_threads(config, kThreads);
  fuse_loop_mt(fuse_, config);
  fuse_loop_cfg_destroy(config);
  fuse_unmount(fuse_);
  fuse_destroy(fuse_);
  const std::lock_guard<std::mutex> hold(mutex_);
  fuse_ = nullptr;
  opened_.clear();
}

void ServedDisk::SetPower(Power power) {
  const std::lock_guard<std::mutex> hold(mutex_);
  power_ = power;
  changed_.notify_all();
}

void ServedDisk::Unmount() {
  SetPower(Power::kFailed);
  umount2(mount_point_.c_str(), MNT_FORCE | MNT_DETACH);
}

DiskLoss ServedDisk::Lose(std::uint64_t seed) {
  const std::lock_guard<std::mutex> hold(mutex_);
  return disk_.Lose(seed);
}

}  // namespace muster
