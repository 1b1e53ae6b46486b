#include "scheduler/runtime/service/systemd.h"

#include <systemd/sd-daemon.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "scheduler/runtime/loaded_library.h"

namespace muster {
namespace {

constexpr std::array<std::string_view, 8> kOurs = {
    "NOTIFY_SOCKET", "WATCHDOG_USEC",  "WATCHDOG_PID",   "LISTEN_FDS",
    "LISTEN_PID",    "LISTEN_FDNAMES", "JOURNAL_STREAM", "INVOCATION_ID"};

// What we use of libsystemd. It is loaded where a service manager started us: nothing else needs
// it, and a machine without systemd need not have it.
struct SystemdLibrary {
  LoadedLibrary library{"libsystemd.so.0"};
  decltype(sd_watchdog_enabled)* watchdog_enabled = nullptr;
  decltype(sd_listen_fds)* listen_fds = nullptr;
  decltype(sd_notify)* notify = nullptr;

  SystemdLibrary() {
    if (library.loaded()) {
      library.Need("sd_watchdog_enabled", watchdog_enabled);
      library.Need("sd_listen_fds", listen_fds);
      library.Need("sd_notify", notify);
    }
  }
  [[nodiscard]] bool loaded() const { return library.loaded() && library.missing().empty(); }
};

const SystemdLibrary& TheLibrary() {
  static const SystemdLibrary library;
  return library;
}

// Whether a service manager started us and talks to us.
bool IsManaged() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): main's.
  return getenv("NOTIFY_SOCKET") != nullptr || getenv("LISTEN_FDS") != nullptr;
}

// A line of its own in what is sent: nothing in it may end it.
std::string OneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

ServiceManager ServiceManager::FromEnvironment() {
  ServiceManager manager;
  if (!IsManaged() || !TheLibrary().loaded()) {
    return manager;
  }
  manager.present_ = getenv("NOTIFY_SOCKET") != nullptr;  // NOLINT(concurrency-mt-unsafe): main's.
  std::uint64_t silence = 0;
  if (TheLibrary().watchdog_enabled(1, &silence) > 0) {
    manager.feed_every_ = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::microseconds(silence / 2));
  }
  const int passed = TheLibrary().listen_fds(1);
  for (int i = 0; i < passed; ++i) {
    manager.listeners_.emplace_back(SD_LISTEN_FDS_START + i);
  }
  return manager;
}

void ServiceManager::Say(const std::string& text) const {
  if (present_) {
    TheLibrary().notify(0, text.c_str());
  }
}

void ServiceManager::Ready(const std::string& status) const {
  Say(absl::StrCat("READY=1\nSTATUS=", OneLine(status)));
}

void ServiceManager::Status(const std::string& status) const {
  Say(absl::StrCat("STATUS=", OneLine(status)));
}

void ServiceManager::Reloading() const {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  Say(absl::StrCat("RELOADING=1\nMONOTONIC_USEC=",
                   std::int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000));
}

void ServiceManager::Stopping() const {
  Say("STOPPING=1\nSTATUS=stopping; jobs go on");
}

void ServiceManager::Alive() const {
  Say("WATCHDOG=1");
}

bool ServiceManager::IsOurs(std::string_view variable) {
  const std::string_view name = variable.substr(0, variable.find('='));
  return std::find(kOurs.begin(), kOurs.end(), name) != kOurs.end();
}

}  // namespace muster
