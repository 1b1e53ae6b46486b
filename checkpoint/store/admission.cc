#include "checkpoint/store/admission.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <string_view>
#include <vector>

#include "checkpoint/disk/disk.h"
#include "checkpoint/disk/names.h"

namespace muster::checkpoint {
namespace {

constexpr std::size_t kAnswerBytesMax = 512;

std::uint64_t BytesOf(const Manifest& manifest) {
  std::uint64_t bytes = 0;
  for (const ShardSeal& seal : manifest.shards) {
    bytes += seal.bytes;
  }
  return bytes;
}

// Those that stay beside the new one, which is not there yet.
std::vector<Aged> StayingBeside(const Store& store, const Manifest& manifest,
                                const Retention& retention) {
  std::vector<Aged> complete = {{manifest.generation, manifest.written_ms, BytesOf(manifest)}};
  const Result<std::vector<GenerationName>> names = store.List();
  for (const GenerationName& name : names.value) {
    if (name.state == GenerationState::kComplete && name.number != manifest.generation) {
      const Result<Manifest> read = store.ReadManifest(name);
      complete.push_back({name.number, read.value.written_ms, BytesOf(read.value)});
    }
  }
  std::stable_sort(complete.begin(), complete.end(),
                   [](const Aged& a, const Aged& b) { return a.number > b.number; });
  constexpr std::uint64_t kMilliseconds = 1000;
  const auto now_ms = static_cast<std::uint64_t>(std::time(nullptr)) * kMilliseconds;
  const std::vector<std::uint64_t> surplus = Surplus(complete, retention, now_ms);
  std::erase_if(complete, [&](const Aged& each) {
    return each.number == manifest.generation ||
           std::find(surplus.begin(), surplus.end(), each.number) != surplus.end();
  });
  return complete;
}

class SpawnSettings {
 public:
  SpawnSettings() {
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_init(&actions);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
  }
  posix_spawnattr_t attributes{};
  posix_spawn_file_actions_t actions{};
};

// What the program printed; "" when it could not be run.
std::string OutputOf(std::vector<std::string> words) {
  std::array<int, 2> ends = {-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return "";
  }
  const OpenFile said(Disk::Real(), ends[0]);
  OpenFile says(Disk::Real(), ends[1]);
  std::vector<char*> arguments;
  for (std::string& word : words) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  // Nothing of the program's signals: SIGCHLD may be ignored or blocked here.
  SpawnSettings settings;
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&settings.attributes, &none);
  posix_spawnattr_setsigdefault(&settings.attributes, &all);
  posix_spawnattr_setflags(&settings.attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawn_file_actions_addopen(&settings.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&settings.actions, says.get(), STDOUT_FILENO);
  pid_t child = 0;
  if (posix_spawn(&child, words.front().c_str(), &settings.actions, &settings.attributes,
                  arguments.data(), environ) != 0) {
    return "";
  }
  says = OpenFile(Disk::Real(), -1);
  std::string text;
  std::array<char, kAnswerBytesMax> buffer = {};
  for (;;) {
    const ssize_t got = read(said.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      break;
    }
    text.append(buffer.data(), static_cast<std::size_t>(got));
    text.resize(std::min(text.size(), kAnswerBytesMax));
  }
  // A program that reaps all its children itself may have been quicker.
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return text;
}

}  // namespace

std::string AdmissionProgram() {
  const char* const program =
      std::getenv("MUSTER_CHECKPOINT_ADMIT");  // NOLINT(concurrency-mt-unsafe)
  return program != nullptr ? program : "";
}

std::string AskAdmission(const std::string& program, std::uint64_t bytes, const KeptBeside& kept,
                         const std::string& directory) {
  const std::string answer = OutputOf(
      {program, "checkpoint", "admit", "--bytes=" + std::to_string(bytes),
       "--kept=" + std::to_string(kept.bytes) + "," + std::to_string(kept.count), "--", directory});
  return answer.substr(0, answer.find('\n'));
}

Result<Retention> Admit(const Store& store, const Manifest& manifest, const Retention& retention,
                        const std::string& program) {
  if (program.empty()) {
    return {retention, {}};
  }
  KeptBeside kept;
  for (const Aged& each : StayingBeside(store, manifest, retention)) {
    kept.bytes += each.bytes;
    ++kept.count;
  }
  const std::string line = AskAdmission(program, BytesOf(manifest), kept, store.directory().path());
  const std::string_view no = kRefusal;
  if (line.compare(0, no.size(), no) == 0) {
    return {retention,
            MakeError(Fault::kOverQuota, ToText({manifest.generation, GenerationState::kComplete}) +
                                             ": " + line.substr(no.size()))};
  }
  return {line == kAlone ? Retention{.keep = 1} : retention, {}};
}

}  // namespace muster::checkpoint
