#pragma once

// systemd's journal as a place for log lines with fields, by its native protocol (systemd,
// "Native Journal Protocol"): one datagram an entry.
//
// Written here in a few lines because the supervisor starts in a millisecond and would load five
// libraries for it. Thread promise: Send from any thread. Invariant: a value may hold any bytes.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/runtime/unique_fd.h"

namespace muster {

using JournaldField = std::pair<std::string_view, std::string_view>;  // NAME and value

// Set for children of a process that logs to the journal.
inline constexpr const char* kJournaldVariable = "MUSTER_JOURNALD";

// One entry as the protocol has it.
std::string JournaldEntry(const std::vector<JournaldField>& fields);

class Journald {
 public:
  // The journal, where our standard error goes there ($JOURNAL_STREAM says so). Reads the
  // environment: call it from main, before threads start.
  static std::optional<Journald> OfStandardError();
  // The same, where our parent wrote there and says so by kJournaldVariable: our own standard error
  // is a file.
  static std::optional<Journald> OfParent();
  // The one that listens on a datagram socket at `path`; none when no journal does.
  static std::optional<Journald> At(const std::string& path);

  // False when it was not taken: too long, or no journal listens any more.
  [[nodiscard]] bool Send(const std::vector<JournaldField>& fields) const;

 private:
  explicit Journald(UniqueFd socket) : socket_(std::move(socket)) {}
  UniqueFd socket_;
};

}  // namespace muster
