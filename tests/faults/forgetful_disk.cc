#include "tests/faults/forgetful_disk.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <unordered_map>
#include <utility>

namespace muster {
namespace {

constexpr std::uint64_t kPiece = 512;
constexpr std::uint64_t kPage = 4096;

// What one cut draws.
class Luck {
 public:
  explicit Luck(std::uint64_t seed) : sequence_(seed) {
    // Now and then everything that was not synced is gone, or all of it is there but the order.
    constexpr std::array<double, 5> kChances = {0, 0.3, 0.7, 0.95, 1};
    names_ = kChances.at(Below(kChances.size()));
    bytes_ = kChances.at(Below(kChances.size()));
    piece_ = Below(2) == 0 ? kPiece : kPage;
  }

  bool KeepsName() { return Happens(names_); }
  // Which of `count` versions after the durable one: 0 is that, `count` the newest.
  std::uint64_t Version(std::uint64_t count) { return Happens(bytes_) ? count : Below(count + 1); }
  [[nodiscard]] std::uint64_t piece() const { return piece_; }

 private:
  bool Happens(double chance) { return std::bernoulli_distribution(chance)(sequence_); }
  std::uint64_t Below(std::uint64_t bound) { return sequence_() % bound; }

  std::mt19937_64 sequence_;
  double names_ = 0;
  double bytes_ = 0;
  std::uint64_t piece_ = kPiece;
};

void Put(std::string& data, std::uint64_t offset, std::string_view bytes) {
  if (data.size() < offset + bytes.size()) {
    data.resize(offset + bytes.size());
  }
  data.replace(offset, bytes.size(), bytes);
}

// Calls `take` with the number of each piece that the write touches, and its bytes there.
template <typename Take>
void ForEachPiece(const DiskWrite& write, std::uint64_t piece, Take take) {
  for (std::uint64_t at = 0; at < write.bytes.size();) {
    const std::uint64_t offset = write.offset + at;
    const std::uint64_t left = piece - offset % piece;
    const std::uint64_t length = std::min<std::uint64_t>(left, write.bytes.size() - at);
    take(offset / piece, offset, std::string_view(write.bytes).substr(at, length));
    at += length;
  }
}

// The bytes that the disk is left with.
std::string Survivors(const DiskNode& node, Luck& luck, DiskLoss& loss) {
  std::string data = node.durable_data;
  if (node.unsynced.empty()) {
    return data;
  }
  struct Versions {
    std::uint64_t all = 0;
    std::uint64_t kept = 0;
    std::uint64_t seen = 0;
  };
  std::map<std::uint64_t, Versions> pieces;
  const auto count = [&](std::uint64_t number, std::uint64_t, std::string_view) {
    ++pieces[number].all;
  };
  for (const DiskWrite& write : node.unsynced) {
    ForEachPiece(write, luck.piece(), count);
  }
  for (auto& [number, versions] : pieces) {
    versions.kept = luck.Version(versions.all);
    loss.pieces += versions.kept < versions.all ? 1 : 0;
  }
  const auto keep = [&](std::uint64_t number, std::uint64_t offset, std::string_view bytes) {
    Versions& versions = pieces.at(number);
    if (versions.seen++ < versions.kept) {
      Put(data, offset, bytes);
    }
  };
  for (const DiskWrite& write : node.unsynced) {
    ForEachPiece(write, luck.piece(), keep);
  }
  const std::uint64_t size = luck.Version(node.unsynced.size());
  data.resize(size == 0 ? node.durable_data.size() : node.unsynced[size - 1].size_after);
  return data;
}

// Everything below `directory` becomes what the disk is left with.
void Settle(const DiskNodePtr& node, Luck& luck, DiskLoss& loss, std::set<DiskNode*>& settled) {
  ++node->links;
  if (!settled.insert(node.get()).second) {
    return;
  }
  node->links = 1;
  node->data = Survivors(*node, luck, loss);
  node->durable_data = node->data;
  node->unsynced.clear();
  node->attributes = luck.KeepsName() ? node->attributes : node->durable_attributes;
  node->durable_attributes = node->attributes;
  node->entries = node->durable_entries;
  for (const auto& [name, entry] : node->entries) {
    Settle(entry, luck, loss, settled);
  }
}

void PutName(std::map<std::string, DiskNodePtr>& entries, const std::string& name,
             const DiskNodePtr& after) {
  if (after == nullptr) {
    entries.erase(name);
  } else {
    entries[name] = after;
  }
}

}  // namespace

ForgetfulDisk::ForgetfulDisk() : root_(std::make_shared<DiskNode>()) {
  root_->number = ++made_;
  root_->links = 1;
  root_->attributes.mode = S_IFDIR | 0700;
  root_->attributes.uid = geteuid();
  root_->attributes.gid = getegid();
  root_->durable_attributes = root_->attributes;
}

DiskNodePtr ForgetfulDisk::Find(std::string_view path) const {
  DiskNodePtr node = root_;
  while (node != nullptr && path.size() > 1) {
    path.remove_prefix(1);
    const std::string name(path.substr(0, path.find('/')));
    path.remove_prefix(name.size());
    const auto found = node->entries.find(name);
    node = found == node->entries.end() ? nullptr : found->second;
  }
  return node;
}

ForgetfulDisk::Place ForgetfulDisk::PlaceOf(std::string_view path) const {
  const std::size_t slash = path.rfind('/');
  return {Find(path.substr(0, slash)), std::string(path.substr(slash + 1))};
}

void ForgetfulDisk::Change(NameChanges changes) {
  for (const NameChange& change : changes) {
    PutName(change.directory->entries, change.name, change.after);
    timespec now = {};
    clock_gettime(CLOCK_REALTIME, &now);
    change.directory->attributes.modified = now;
  }
  unsynced_.push_back(std::move(changes));
}

int ForgetfulDisk::Make(std::string_view path, const DiskAttributes& attributes,
                        std::string_view target, DiskNodePtr* made) {
  const auto [directory, name] = PlaceOf(path);
  if (directory == nullptr) {
    return -ENOENT;
  }
  if (directory->entries.count(name) != 0) {
    return -EEXIST;
  }
  auto node = std::make_shared<DiskNode>();
  node->number = ++made_;
  node->links = 1;
  node->attributes = attributes;
  clock_gettime(CLOCK_REALTIME, &node->attributes.modified);
  node->attributes.accessed = node->attributes.modified;
  node->durable_attributes = node->attributes;
  node->data = target;
  node->durable_data = target;
  Change({{directory, name, node}});
  if (made != nullptr) {
    *made = std::move(node);
  }
  return 0;
}

int ForgetfulDisk::Link(std::string_view from, std::string_view to) {
  const DiskNodePtr node = Find(from);
  const auto [directory, name] = PlaceOf(to);
  if (node == nullptr || directory == nullptr) {
    return -ENOENT;
  }
  if (node->IsDirectory()) {
    return -EPERM;
  }
  if (directory->entries.count(name) != 0) {
    return -EEXIST;
  }
  ++node->links;
  Change({{directory, name, node}});
  return 0;
}

int ForgetfulDisk::Unlink(std::string_view path) {
  const DiskNodePtr node = Find(path);
  if (node == nullptr) {
    return -ENOENT;
  }
  if (node->IsDirectory()) {
    return -EISDIR;
  }
  --node->links;
  const auto [directory, name] = PlaceOf(path);
  Change({{directory, name, nullptr}});
  return 0;
}

int ForgetfulDisk::RemoveDirectory(std::string_view path) {
  const DiskNodePtr node = Find(path);
  if (node == nullptr) {
    return -ENOENT;
  }
  if (!node->IsDirectory()) {
    return -ENOTDIR;
  }
  if (!node->entries.empty()) {
    return -ENOTEMPTY;
  }
  --node->links;
  const auto [directory, name] = PlaceOf(path);
  Change({{directory, name, nullptr}});
  return 0;
}

int ForgetfulDisk::Rename(std::string_view from, std::string_view to, bool may_replace) {
  const DiskNodePtr node = Find(from);
  const DiskNodePtr replaced = Find(to);
  const auto [directory, name] = PlaceOf(to);
  if (node == nullptr || directory == nullptr) {
    return -ENOENT;
  }
  if (node == replaced) {
    return 0;
  }
  if (replaced != nullptr) {
    if (!may_replace) {
      return -EEXIST;
    }
    if (replaced->IsDirectory() != node->IsDirectory()) {
      return node->IsDirectory() ? -ENOTDIR : -EISDIR;
    }
    if (!replaced->entries.empty()) {
      return -ENOTEMPTY;
    }
    --replaced->links;
  }
  const auto [before, old_name] = PlaceOf(from);
  Change({{before, old_name, nullptr}, {directory, name, node}});
  return 0;
}

void ForgetfulDisk::Write(DiskNode& node, std::uint64_t offset, std::string_view bytes) {
  Put(node.data, offset, bytes);
  node.unsynced.push_back({offset, std::string(bytes), node.data.size()});
  clock_gettime(CLOCK_REALTIME, &node.attributes.modified);
}

// What is cut off is no longer there to be seen when the file grows again.
void ForgetfulDisk::Truncate(DiskNode& node, std::uint64_t size) {
  const std::uint64_t before = node.data.size();
  node.data.resize(size);
  node.unsynced.push_back({size, std::string(size < before ? before - size : 0, '\0'), size});
  clock_gettime(CLOCK_REALTIME, &node.attributes.modified);
}

void ForgetfulDisk::Sync(DiskNode& node) {
  for (const DiskWrite& write : node.unsynced) {
    Put(node.durable_data, write.offset, write.bytes);
    node.durable_data.resize(write.size_after);
  }
  node.unsynced.clear();
  node.durable_attributes = node.attributes;
  if (node.IsDirectory()) {
    SyncNames(node);
  }
}

// From the newest change back: what a durable change of a name came after is durable, too.
void ForgetfulDisk::SyncNames(const DiskNode& directory) {
  std::set<std::pair<const DiskNode*, std::string_view>> needed;
  std::vector<std::list<NameChanges>::iterator> durable;
  for (auto changes = unsynced_.end(); changes != unsynced_.begin();) {
    --changes;
    const bool now = std::any_of(changes->begin(), changes->end(), [&](const NameChange& change) {
      return change.directory.get() == &directory ||
             needed.count({change.directory.get(), change.name}) != 0;
    });
    if (now) {
      durable.push_back(changes);
      for (const NameChange& change : *changes) {
        needed.insert({change.directory.get(), change.name});
      }
    }
  }
  for (auto changes = durable.rbegin(); changes != durable.rend(); ++changes) {
    for (const NameChange& change : **changes) {
      PutName(change.directory->durable_entries, change.name, change.after);
    }
  }
  needed.clear();
  for (const auto changes : durable) {
    unsynced_.erase(changes);
  }
}

DiskLoss ForgetfulDisk::Lose(std::uint64_t seed) {
  Luck luck(seed);
  DiskLoss loss;
  std::set<std::pair<const DiskNode*, std::string_view>> lost;
  for (const NameChanges& changes : unsynced_) {
    const bool possible =
        std::none_of(changes.begin(), changes.end(), [&](const NameChange& change) {
          return lost.count({change.directory.get(), change.name}) != 0;
        });
    const bool kept = possible && luck.KeepsName();
    loss.names += kept ? 0 : 1;
    for (const NameChange& change : changes) {
      if (kept) {
        PutName(change.directory->durable_entries, change.name, change.after);
      } else {
        lost.insert({change.directory.get(), change.name});
      }
    }
  }
  unsynced_.clear();
  std::set<DiskNode*> settled;
  Settle(root_, luck, loss, settled);
  return loss;
}

}  // namespace muster
