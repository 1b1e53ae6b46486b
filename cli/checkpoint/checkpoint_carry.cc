#include "cli/checkpoint/checkpoint_carry.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "checkpoint/disk/durable_file.h"
#include "cli/checkpoint/kept_generations.h"
#include "cli/checkpoint/object_level.h"
#include "cli/frame/output.h"
#include "cli/page/text.h"
#include "cli/parse/request/stage_words.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/process.h"
#include "scheduler/runtime/program/child_end.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::cli {
namespace {

using checkpoint::GenerationState;
using checkpoint::Store;
using NoteJson = nlohmann::ordered_json;

constexpr const char* kNoteName = "/object.json";
constexpr std::chrono::milliseconds kLook{1000};
// What is on its way from the nodes' own disks when the script ends.
constexpr std::chrono::minutes kArrivalsMost{5};

std::uint64_t NewestIn(const Store& store) {
  const auto names = store.List();
  for (const checkpoint::GenerationName& name : names.value) {
    if (name.state == GenerationState::kComplete) {
      return name.number;
    }
  }
  return 0;
}

// A newer one than `newest` comes shard by shard.
bool IsArriving(const Store& store, std::uint64_t newest) {
  const auto names = store.directory().Entries();
  for (const std::string& name : names.value) {
    const auto arrival = checkpoint::ParseArrivalName(name);
    if (arrival && arrival->number > newest) {
      return true;
    }
  }
  return false;
}

// Copies what is new, at most as often as it may.
class Carrier {
 public:
  Carrier(std::string directory, const ObjectLevel& level, Duration every)
      : directory_(std::move(directory)), level_(level), every_(every) {
    note_.place = level.place();
    if (const auto there = level_.List(); there.ok()) {
      for (const ObjectGeneration& each : *there) {
        note_.generation = each.whole ? std::max(note_.generation, each.number) : note_.generation;
      }
    }
  }

  // `last`: the script has ended.
  void Look(bool last) {
    const SteadyTime now = clock_.SteadyNow();
    if (!last && now < next_) {
      return;
    }
    const absl::StatusOr<Store> store = OpenStore(directory_);
    const std::uint64_t newest = store.ok() ? NewestIn(*store) : 0;
    if (newest == 0 || newest == note_.generation) {
      return;
    }
    next_ = now + every_;
    const absl::Status pushed = level_.Push(*store, newest);
    note_.error = pushed.ok() ? "" : Printable(std::string(pushed.message()));
    if (pushed.ok()) {
      note_.generation = newest;
      note_.copied = clock_.Now();
    }
    const std::string text = PrintCarryNote(note_);
    (void)checkpoint::WriteDurably(directory_ + kNoteName, text.data(), text.size());
  }

  void AwaitArrivals() const {
    const SteadyTime end = clock_.SteadyNow() + kArrivalsMost;
    do {
      std::this_thread::sleep_for(kLook);
      const absl::StatusOr<Store> store = OpenStore(directory_);
      if (!store.ok() || !IsArriving(*store, NewestIn(*store))) {
        return;
      }
    } while (clock_.SteadyNow() < end);
  }

 private:
  const std::string directory_;
  const ObjectLevel& level_;
  const Duration every_;
  const SystemClock clock_;
  SteadyTime next_ = SteadyTime::min();
  CarryNote note_;
};

// As the helper of local levels does (checkpoint/store/flush_process.cc).
void Detach(int kept) {
  prctl(PR_SET_NAME, kCarryName);
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE}) {
    std::signal(number, SIG_IGN);
  }
  setsid();
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    dup2(null, fd);
  }
  // Nothing of what the script has, of which others wait for the end.
  const auto own = static_cast<unsigned>(kept);
  if (own > STDERR_FILENO + 1) {
    close_range(STDERR_FILENO + 1, own - 1, 0);
  }
  close_range(own + 1, ~0U, 0);
}

[[noreturn]] void CarryBeside(const UniqueFd& script, const std::string& directory,
                              const ObjectLevel& level, const ObjectCopies& copies,
                              bool has_local) {
  Detach(script.get());
  Carrier carrier(directory, level, copies.every);
  pollfd ended = {script.get(), POLLIN, 0};
  while (poll(&ended, 1, static_cast<int>(kLook.count())) <= 0) {
    carrier.Look(false);
  }
  if (has_local) {
    carrier.AwaitArrivals();
  }
  carrier.Look(true);
  _exit(0);
}

// The process that copies is no child of the script, which may wait for all of its own.
absl::Status LeaveCarrier(const std::string& directory, const ObjectLevel& level,
                          const ObjectCopies& copies, bool has_local) {
  ASSIGN_OR_RETURN(const ProcessIdentity self, ReadIdentity(getpid()));
  ASSIGN_OR_RETURN(const UniqueFd script, OpenPidfd(self));
  const pid_t child = fork();
  if (child < 0) {
    return absl::ErrnoToStatus(errno, "a process that copies checkpoints");
  }
  if (child == 0) {
    if (fork() != 0) {
      _exit(0);
    }
    CarryBeside(script, directory, level, copies, has_local);
  }
  AwaitEnd(child);
  return absl::OkStatus();
}

// A job that begins in a directory of its own goes on from nothing: what the store has under that
// name is of another one with its number.
bool MayFetch(const Environment& environment, const std::string& directory) {
  const std::string restarts = environment.Get("MUSTER_RESTART_COUNT");
  return (!restarts.empty() && restarts != "0") ||
         !absl::EndsWith(directory,
                         absl::StrCat("/muster-", environment.Get("MUSTER_JOB_ID"), ".checkpoint"));
}

absl::Status FetchWhereThereIsNone(const std::string& directory, const ObjectLevel& level) {
  (void)mkdir(directory.c_str(), S_IRWXU);
  ASSIGN_OR_RETURN(Store store, OpenStore(directory));
  if (checkpoint::NewestThatSeemsWhole(store) != 0) {
    return absl::OkStatus();
  }
  const absl::StatusOr<std::uint64_t> fetched = level.FetchNewest(store);
  if (!fetched.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("its checkpoint cannot be fetched, so that its script was not started: ",
                     std::string(fetched.status().message())));
  }
  if (*fetched != 0) {
    std::cerr << "muster: fetched checkpoint " << *fetched << " from " << Printable(level.place())
              << std::endl;
  }
  return absl::OkStatus();
}

absl::Status CheckTwo(const Invocation& invocation) {
  return invocation.arguments.size() == 3 ? absl::OkStatus()
                                          : absl::InvalidArgumentError(absl::StrCat(
                                                invocation.arguments.front(),
                                                ": name a directory and a place: DIR REMOTE:PATH"));
}

}  // namespace

std::string ObjectPlaceOf(const std::string& place, const std::string& directory) {
  const std::filesystem::path path = std::filesystem::path(directory + "/").lexically_normal();
  return absl::StrCat(place, place.back() == ':' ? "" : "/",
                      path.parent_path().filename().string());
}

std::string PrintCarryNote(const CarryNote& note) {
  return NoteJson({{"place", note.place},
                   {"generation", note.generation},
                   {"copied_ms", note.copied.time_since_epoch().count()},
                   {"error", note.error}})
             .dump(-1, ' ', false, NoteJson::error_handler_t::replace) +
         "\n";
}

CarryNote ReadCarryNote(const std::string& directory) {
  const absl::StatusOr<std::string> text = ReadFile(directory + kNoteName);
  CarryNote note;
  const NoteJson document =
      text.ok() ? NoteJson::parse(*text, nullptr, /*allow_exceptions=*/false) : NoteJson();
  if (document.is_object() && document.contains("place") && document["place"].is_string() &&
      document.contains("generation") && document["generation"].is_number_unsigned() &&
      document.contains("copied_ms") && document["copied_ms"].is_number_integer() &&
      document.contains("error") && document["error"].is_string()) {
    note.place = document["place"];
    note.generation = document["generation"];
    note.copied = Time(Duration(document["copied_ms"].get<std::int64_t>()));
    note.error = document["error"];
  }
  return note;
}

absl::StatusOr<int> CheckpointPush(const Invocation& invocation) {
  RETURN_IF_ERROR(CheckTwo(invocation));
  ASSIGN_OR_RETURN(const Store store, OpenStore(invocation.arguments[1]));
  ASSIGN_OR_RETURN(const ObjectCopies copies, ParseObjectCopies(invocation.arguments[2]));
  const std::uint64_t newest = NewestIn(store);
  if (newest == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(Quote(invocation.arguments[1]), ": holds no complete generation"));
  }
  const ObjectLevel level(ObjectPlaceOf(copies.place, invocation.arguments[1]),
                          invocation.environment);
  RETURN_IF_ERROR(level.Push(store, newest));
  RETURN_IF_ERROR(
      WriteOut(absl::StrCat("copied generation ", newest, " to ", Printable(level.place()), "\n")));
  return 0;
}

absl::StatusOr<int> CheckpointFetch(const Invocation& invocation) {
  RETURN_IF_ERROR(CheckTwo(invocation));
  ASSIGN_OR_RETURN(Store store, OpenStore(invocation.arguments[1]));
  ASSIGN_OR_RETURN(const ObjectCopies copies, ParseObjectCopies(invocation.arguments[2]));
  const ObjectLevel level(ObjectPlaceOf(copies.place, invocation.arguments[1]),
                          invocation.environment);
  ASSIGN_OR_RETURN(const std::uint64_t fetched, level.FetchNewest(store));
  if (fetched == 0) {
    return absl::NotFoundError(absl::StrCat(Quote(level.place()), ": holds no whole checkpoint"));
  }
  RETURN_IF_ERROR(WriteOut(
      absl::StrCat("fetched generation ", fetched, " from ", Printable(level.place()), "\n")));
  return 0;
}

absl::StatusOr<int> CheckpointCarry(const Invocation& invocation) {
  const std::vector<std::string>& words = invocation.arguments;
  if (words.size() < 4) {
    return absl::InvalidArgumentError("carry: is for the supervisor of a job; leave it out");
  }
  const std::string& directory = words[1];
  ASSIGN_OR_RETURN(const ObjectCopies copies, ParseObjectCopies(words[2]));
  const ObjectLevel level(ObjectPlaceOf(copies.place, directory), invocation.environment);
  if (MayFetch(invocation.environment, directory)) {
    RETURN_IF_ERROR(FetchWhereThereIsNone(directory, level));
  }
  RETURN_IF_ERROR(LeaveCarrier(directory, level, copies,
                               invocation.environment.Has("MUSTER_CHECKPOINT_LOCAL_DIR")));
  std::vector<std::string> script(words.begin() + 3, words.end());
  std::vector<char*> arguments;
  for (std::string& word : script) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  execv(script.front().c_str(), arguments.data());
  return absl::ErrnoToStatus(errno, "cannot run the batch script");
}

}  // namespace muster::cli
