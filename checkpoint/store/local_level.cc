#include "checkpoint/store/local_level.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>

#include "checkpoint/disk/disk.h"
#include "checkpoint/disk/own_file.h"

namespace muster::checkpoint {
namespace {

constexpr std::size_t kLocalKeep = 2;

// The path without links and dots; nothing when it leads nowhere.
Result<std::string> WholePath(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> whole(realpath(path.c_str(), nullptr),
                                                          &std::free);
  return whole != nullptr ? Result<std::string>{whole.get(), {}}
                          : Result<std::string>{{}, SystemError(path, errno)};
}

Error NotShared(const std::string& text) {
  return MakeError(Fault::kNotShared, text);
}

}  // namespace

LocalLevel::LocalLevel(FlushPlan plan, std::string program, Store store, FlushQueue queue)
    : plan_(std::move(plan)),
      program_(std::move(program)),
      store_(std::move(store)),
      queue_(std::move(queue)) {}

Result<LocalLevel> LocalLevel::Open(const LocalOptions& options, Disk& disk) {
  const auto fail = [](const Error& error) {
    return Result<LocalLevel>{LocalLevel({}, {}, Store(), FlushQueue()), error};
  };
  const Result<std::string> parent = WholePath(options.parent);
  const Result<std::string> shared = WholePath(options.shared);
  if (!parent.ok() || !shared.ok()) {
    return fail(parent.ok() ? shared.error : parent.error);
  }
  const std::string name = options.job + "-" + HexText(ChecksumOf(shared.value)) + ".rank-" +
                           ShardName(options.rank).substr(std::string("shard-").size());
  // The parent may be everybody's: what lies there under our name must be ours, and no link.
  const OpenFile directory(
      disk, disk.OpenAt(AT_FDCWD, parent.value.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
  if (!directory.ok() ||
      (disk.MakeDirectoryAt(directory.get(), name.c_str(), kPrivateDirectory) != 0 &&
       errno != EEXIST)) {
    return fail(SystemError(parent.value + "/" + name, errno));
  }
  const Result<int> own = OpenOwnDirectory(disk, directory.get(), name);
  if (!own.ok()) {
    return fail(own.error);
  }
  const OpenFile held(disk, own.value);
  FlushPlan plan{parent.value + "/" + name, shared.value, options.rank, options.retention,
                 options.progress};
  Result<Store> store = Store::Open(disk, plan.local);
  Result<FlushQueue> queue = FlushQueue::Open(disk, plan.local);
  if (!store.ok() || !queue.ok()) {
    return fail(store.ok() ? queue.error : store.error);
  }
  return {LocalLevel(std::move(plan),
                     options.program.empty() ? MUSTER_CHECKPOINT_FLUSH_PROGRAM : options.program,
                     std::move(store.value), std::move(queue.value)),
          {}};
}

Error LocalLevel::Retire(std::uint64_t newest) {
  const Result<std::vector<GenerationName>> all = store_.List();
  const Result<std::vector<std::uint64_t>> unflushed = queue_.Unflushed();
  if (!all.ok() || !unflushed.ok()) {
    return all.ok() ? unflushed.error : all.error;
  }
  std::size_t kept = 0;
  for (const GenerationName& name : all.value) {
    const bool complete = name.state == GenerationState::kComplete;
    const bool wanted =
        name.number == newest || !complete ||
        std::binary_search(unflushed.value.begin(), unflushed.value.end(), name.number);
    kept += complete ? 1 : 0;
    if (!wanted && kept > kLocalKeep) {
      if (Error error = store_.Remove(name); error.failed()) {
        return error;
      }
    }
  }
  return {};
}

Error LocalLevel::SetAside(std::uint64_t generation) {
  queue_.Withdraw(generation);
  return store_.restarts().SetAside(generation).error;
}

bool LocalLevel::HasRoom() const {
  const Result<std::vector<std::uint64_t>> unflushed = queue_.Unflushed();
  return unflushed.ok() && unflushed.value.size() < kUnflushedMax;
}

Error LocalLevel::AskFor(std::uint64_t generation) {
  const Error error = queue_.Add(generation);
  return error.failed() ? NotShared(error.text) : error;
}

Error LocalLevel::StartHelper() const {
  const Error error = StartFlush(program_, plan_);
  return error.failed() ? NotShared(error.text) : error;
}

Error LocalLevel::FlushNewest(std::uint64_t generation) {
  const Result<std::vector<std::uint64_t>> waiting = queue_.Waiting();
  for (const std::uint64_t older : waiting.value) {
    queue_.Withdraw(older);
  }
  const Error error = AskFor(generation);
  return error.failed() ? error : StartHelper();
}

Error LocalLevel::TakeFlushError() {
  const std::string line = queue_.TakeError();
  return line.empty() ? Error() : NotShared(line);
}

}  // namespace muster::checkpoint
