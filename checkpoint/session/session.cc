#include "checkpoint/session/session.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <memory>
#include <utility>

#include "checkpoint/disk/durable_file.h"
#include "checkpoint/disk/own_file.h"

namespace muster::checkpoint {
namespace {

double SecondsOf(clockid_t clock) {
  constexpr double kNanosecond = 1e-9;
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + kNanosecond * static_cast<double>(now.tv_nsec);
}

Error CheckOptions(const SessionOptions& options) {
  if (!IsName(options.job)) {
    return MakeError(Fault::kUsage,
                     "job: is no name: use 1 to 64 letters, digits, '.', '_' and '-'");
  }
  if (options.ranks == 0 || options.ranks > kRanksMax || options.rank >= options.ranks) {
    return MakeError(Fault::kUsage, "rank: use one from 0 to ranks - 1");
  }
  if (!options.local_directory.empty() && options.ranks > 1 && !options.together) {
    return MakeError(Fault::kUsage, "local directory: needs ranks that open together (a group)");
  }
  if (options.keep == 0) {
    return MakeError(Fault::kUsage, "keep: use at least 1");
  }
  if (!(options.age_s >= 0)) {
    return MakeError(Fault::kUsage, "age: use seconds, 0 for none");
  }
  if (!(options.interval_s >= 0)) {
    return MakeError(Fault::kUsage, "interval: use seconds, 0 for none");
  }
  if (!IsRemark(options.topology) || !IsRemark(options.software) || !IsRemark(options.hardware)) {
    return MakeError(Fault::kUsage,
                     "topology, software, hardware: use up to 255 printable ASCII characters");
  }
  return {};
}

Retention RetentionOf(const SessionOptions& options) {
  return {options.keep, options.milestone, options.age_s, options.bytes_max};
}

Result<LocalLevel> OpenLocal(const SessionOptions& options, Disk& disk) {
  return LocalLevel::Open({.parent = options.local_directory,
                           .shared = options.directory,
                           .job = options.job,
                           .program = options.flush_program,
                           .progress = options.progress,
                           .rank = options.rank,
                           .retention = RetentionOf(options)},
                          disk);
}

// As a manifest's remark.
std::string RemarkOf(const std::string& line) {
  constexpr std::size_t kRemarkMax = 255;
  std::string remark = line.substr(0, kRemarkMax);
  std::replace_if(
      remark.begin(), remark.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return remark;
}

// All of a file of the program's own.
Result<std::string> ReadWhole(Disk& disk, const std::string& path) {
  const OpenFile file(disk, disk.OpenAt(AT_FDCWD, path.c_str(), O_RDONLY | O_CLOEXEC, 0));
  struct stat about {};
  if (!file.ok() || disk.Stat(file.get(), &about) != 0) {
    return {{}, SystemError(path, errno)};
  }
  std::string bytes(static_cast<std::size_t>(about.st_size), '\0');
  if (Error error = ReadFully(disk, file.get(), bytes.data(), bytes.size(), 0); error.failed()) {
    return {{}, MakeError(error.fault, path + ": " + error.text)};
  }
  return {std::move(bytes), {}};
}

}  // namespace

Session::Session(SessionOptions options, Store store, Disk& disk)
    : options_(std::move(options)),
      disk_(&disk),
      store_(std::move(store)),
      pid_(getpid()),
      last_end_s_(SecondsOf(CLOCK_MONOTONIC)) {
  pace_.interval_s = options_.interval_s;
}

Session::~Session() {
  if (!local_ || uncopied_ == 0 || pid_ != getpid()) {
    return;
  }
  // Nobody is there to be told. Ranks withdraw nothing that others may have begun.
  if (options_.together) {
    (void)local_->AskFor(newest_);
    (void)local_->StartHelper();
  } else {
    (void)local_->FlushNewest(newest_);
  }
}

Result<std::unique_ptr<Session>> Session::Open(SessionOptions options, Disk& disk) {
  if (Error error = CheckOptions(options); error.failed()) {
    return {{}, error};
  }
  Result<Store> store = Store::Open(disk, options.directory);
  if (!store.ok()) {
    return {{}, store.error};
  }
  HintFile hints;
  if (!options.hints.empty()) {
    Result<HintFile> file = HintFile::Open(options.hints);
    if (!file.ok()) {
      return {{}, file.error};
    }
    hints = std::move(file.value);
  }
  // A page that cannot be had changes nothing for the program.
  ProgressSlot progress;
  if (!options.progress.empty()) {
    progress = std::move(ProgressSlot::Take(options.progress).value);
  }
  std::optional<LocalLevel> local;
  if (!options.local_directory.empty()) {
    Result<LocalLevel> level = OpenLocal(options, disk);
    if (!level.ok()) {
      return {{}, level.error};
    }
    local = std::move(level.value);
  }
  auto session =
      std::unique_ptr<Session>(new Session(std::move(options), std::move(store.value), disk));
  session->hints_ = std::move(hints);
  session->progress_ = std::move(progress);
  session->local_ = std::move(local);
  return {std::move(session), {}};
}

Error Session::AddRegion(Region region) {
  if (!IsName(region.name)) {
    return MakeError(Fault::kUsage,
                     "region: is no name: use 1 to 64 letters, digits, '.', '_' and '-'");
  }
  if (std::any_of(regions_.begin(), regions_.end(),
                  [&region](const Region& other) { return other.name == region.name; })) {
    return MakeError(Fault::kUsage, region.name + ": is protected already");
  }
  if (regions_.size() >= kRegionsMax) {
    return MakeError(Fault::kUsage, region.name + ": there are too many regions");
  }
  regions_.push_back(std::move(region));
  return {};
}

Error Session::Protect(const std::string& name, void* bytes, std::uint64_t size) {
  if (bytes == nullptr && size > 0) {
    return MakeError(Fault::kUsage, "region: has no memory");
  }
  return AddRegion({name, bytes, size, "", {}});
}

Error Session::ProtectFile(const std::string& name, const std::string& path) {
  if (path.empty()) {
    return MakeError(Fault::kUsage, "region: has no path");
  }
  return AddRegion({name, nullptr, 0, path, {}});
}

Error Session::ProtectElsewhere(const std::string& name, Elsewhere memory, std::uint64_t size) {
  return AddRegion({name, nullptr, size, "", std::move(memory)});
}

Error Session::CheckRankZero(const char* call) const {
  return options_.rank == 0 ? Error()
                            : MakeError(Fault::kUsage, std::string(call) + ": is rank 0's");
}

Result<std::uint64_t> Session::Begin() {
  if (Error error = CheckRankZero("begin"); error.failed()) {
    return {0, error};
  }
  const Result<std::uint64_t> number = NextNumber();
  return number.ok() ? Result<std::uint64_t>{number.value, BeginAs(number.value)} : number;
}

Result<std::uint64_t> Session::NextNumber() {
  Error error = options_.rank == 0 ? store_.LockForWriting() : Error();
  if (local_ && !error.failed()) {
    error = local_->store().LockForWriting();
    flush_error_ = local_->TakeFlushError();
  }
  if (error.failed()) {
    return {0, error};
  }
  NoteBegin();
  const Result<std::uint64_t> shared = store_.Next();
  const Result<std::uint64_t> here = local_ ? local_->store().Next() : shared;
  if (!shared.ok() || !here.ok()) {
    return shared.ok() ? here : shared;
  }
  return {std::max(shared.value, here.value), {}};
}

// A checkpoint that begins after a notice answers it, whether or not the program asked. Ranks of a
// group go by what rank 0 was told.
void Session::NoteBegin() {
  began_s_ = SecondsOf(CLOCK_MONOTONIC);
  if (!options_.together) {
    asked_notice_ = hints_.Read().notice_number;
  }
}

Error Session::BeginAs(std::uint64_t generation) {
  return Target().BeginAs(generation);
}

Result<ShardSeal> Session::Write(std::uint64_t generation) {
  if (options_.rank != 0) {
    NoteBegin();
  }
  std::vector<std::string> files;
  files.reserve(regions_.size());
  std::vector<std::unique_ptr<char[]>> fetched;
  std::vector<RegionBytes> bytes;
  for (const Region& region : regions_) {
    if (region.elsewhere.fetch) {
      fetched.push_back(std::make_unique_for_overwrite<char[]>(region.size));
      if (Error error = region.elsewhere.fetch(fetched.back().get()); error.failed()) {
        error.text = region.name + ": " + error.text;
        return {{}, error};
      }
      bytes.push_back({region.name, fetched.back().get(), region.size});
      continue;
    }
    if (region.path.empty()) {
      bytes.push_back({region.name, region.bytes, region.size});
      continue;
    }
    Result<std::string> file = ReadWhole(*disk_, region.path);
    if (!file.ok()) {
      return {{}, file.error};
    }
    files.push_back(std::move(file.value));
    bytes.push_back({region.name, files.back().data(), files.back().size()});
  }
  Result<ShardSeal> seal =
      Target().Write({options_.job, generation, options_.rank, options_.ranks}, bytes);
  written_bytes_ = seal.value.bytes;
  return seal;
}

Error Session::Complete(std::uint64_t generation, const std::vector<ShardSeal>& seals) {
  if (Error error = CheckRankZero("commit"); error.failed()) {
    return error;
  }
  bool in_order = seals.size() == options_.ranks;
  for (std::size_t i = 0; i < seals.size() && in_order; ++i) {
    in_order = seals[i].rank == i;
  }
  if (!in_order) {
    return MakeError(Fault::kUsage, "commit: needs the seals of all ranks, rank 0 first");
  }
  return CompleteAs(ManifestOf(generation, seals));
}

Manifest Session::ManifestOf(std::uint64_t generation, const std::vector<ShardSeal>& seals) const {
  constexpr double kMillisecondsPerSecond = 1000;
  Manifest manifest;
  manifest.job = options_.job;
  manifest.attempt = options_.attempt;
  manifest.generation = generation;
  manifest.written_ms =
      static_cast<std::uint64_t>(SecondsOf(CLOCK_REALTIME) * kMillisecondsPerSecond);
  manifest.repartitionable = options_.repartitionable;
  manifest.topology = options_.topology;
  manifest.software = options_.software;
  manifest.hardware = options_.hardware;
  manifest.flush_error = RemarkOf(flush_error_.text);
  manifest.shards = seals;
  return manifest;
}

Error Session::CompleteAs(const Manifest& manifest) {
  noted_ = 0;
  const Error error = Target().Commit(manifest);
  return error.failed() || options_.rank != 0 ? error : store_.ConfirmRestart();
}

void Session::TakeBack(std::uint64_t generation) {
  Target().Abandon(generation);
  (void)Target().Remove({generation, GenerationState::kComplete});
}

Error Session::Commit(std::uint64_t generation, const std::vector<ShardSeal>& seals) {
  if (Error error = Complete(generation, seals); error.failed()) {
    return error;
  }
  NoteDone();
  Error error = local_ ? RetireLocal(generation, seals[options_.rank])
                       : store_.Retire(generation, RetentionOf(options_));
  TellDone(error);
  return error;
}

// The commit stands, whatever this answers.
Error Session::RetireLocal(std::uint64_t generation, const ShardSeal& seal) {
  Error error = VerifyOwn(seal, generation);
  error = error.failed() ? error : local_->Retire(generation);
  if (!error.failed()) {
    const bool copied = WantsCopy();
    error = copied ? local_->FlushNewest(generation) : error;
    NoteCopy(generation, copied && !error.failed());  // otherwise the next one is
  }
  return error.failed() ? error : std::exchange(flush_error_, {});
}

Error Session::VerifyOwn(const ShardSeal& seal, std::uint64_t generation) {
  const GenerationName name{generation, GenerationState::kComplete};
  if (local_) {  // each rank has the manifest there
    if (Error error = Target().ReadManifest(name).error; error.failed()) {
      return error;
    }
  }
  if (options_.rank == 0 && HoldsAllShards(local_ ? StoreLevel::kLocal : StoreLevel::kShared)) {
    const Result<Manifest> manifest = Target().ReadManifest(name);
    const Error error =
        manifest.ok() ? Target().CheckEntries(name, manifest.value) : manifest.error;
    if (error.failed()) {
      return error;
    }
  }
  return Target().VerifyShard({options_.job, generation, options_.rank, options_.ranks}, seal);
}

Error Session::RetireVerified(std::uint64_t generation) {
  const Error error = CheckRankZero("retire");
  return error.failed() ? error : store_.RetireVerified(generation, RetentionOf(options_));
}

void Session::Abandon(std::uint64_t generation) {
  Target().Abandon(generation);
}

void Session::NoteDone() {
  last_end_s_ = SecondsOf(CLOCK_MONOTONIC);
  cost_sum_s_ += last_end_s_ - began_s_;
  ++checkpoints_;
  pace_.cost_s = cost_sum_s_ / static_cast<double>(checkpoints_);
  pace_.deadline_answered = asked_ == Need::kTimeLimit;
  answered_ = pace_.deadline_answered || pace_.answered_notice != asked_notice_;
  pace_.answered_notice = asked_notice_;
}

bool Session::WantsCopy() {
  const Committed committed{uncopied_ + 1, answered_, pace_.cost_s};
  return IsCopied(hints_.Read(), committed, SecondsOf(CLOCK_REALTIME));
}

void Session::NoteCopy(std::uint64_t generation, bool copied) {
  newest_ = generation;
  uncopied_ = copied ? 0 : uncopied_ + 1;
}

void Session::TellDone(const Error& error) {
  if (error.failed() && error.fault != Fault::kNotShared) {
    return;  // it may not be worth what it seems
  }
  constexpr double kMillisecondsPerSecond = 1000;
  constexpr double kMicrosecondsPerSecond = 1e6;
  const double now_s = SecondsOf(CLOCK_MONOTONIC);
  const double now_ms = SecondsOf(CLOCK_REALTIME) * kMillisecondsPerSecond;
  const auto at = [&](double time_s) {
    return static_cast<std::uint64_t>(now_ms - (now_s - time_s) * kMillisecondsPerSecond);
  };
  progress_.Committed(
      {.begun_ms = at(began_s_),
       .ended_ms = at(last_end_s_),
       .cost_us = static_cast<std::uint64_t>((now_s - began_s_) * kMicrosecondsPerSecond),
       .bytes = written_bytes_,
       .notice = pace_.answered_notice});
}

Error Session::Save() {
  if (options_.ranks != 1) {
    return MakeError(Fault::kUsage, "save: is for one rank: use begin, write and commit");
  }
  const Result<std::uint64_t> generation = Begin();
  if (!generation.ok()) {
    return generation.error;
  }
  const Result<ShardSeal> seal = Write(generation.value);
  Error error = seal.ok() ? Commit(generation.value, {seal.value}) : seal.error;
  if (error.failed()) {
    Abandon(generation.value);
  }
  return error;
}

Need Session::ShouldCheckpoint() {
  const Hints& hints = hints_.Read();
  pace_.since_last_s = SecondsOf(CLOCK_MONOTONIC) - last_end_s_;
  const Need need = Decide(hints, pace_, hints.deadline_ms != 0 ? SecondsOf(CLOCK_REALTIME) : 0);
  asked_ = need;
  asked_notice_ = hints.notice_number;
  progress_.Beat();
  return need;
}

void Session::AskedFor(std::uint32_t notice) {
  asked_notice_ = notice;
  progress_.Beat();
}

}  // namespace muster::checkpoint
