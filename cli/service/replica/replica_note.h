#pragma once

// What a replica says of itself, as a note of its job: where it is, and whether to send it work.
//
// Pure. Invariants: a note is one line without control characters; what NoteText writes, ReadNote
// reads back; a note of another kind is nothing.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace muster::cli {

// The note of a job that holds it.
inline constexpr const char* kReplicaNote = "Extra";

inline constexpr const char* kReplicaStarting = "starting";  // it has not answered well yet
inline constexpr const char* kReplicaReady = "ready";
inline constexpr const char* kReplicaFailing = "failing";  // it ended or failed its probes
inline constexpr const char* kReplicaLeaving = "leaving";  // it is about to end: no new work

struct ServicePort {
  std::string name;
  std::uint16_t port = 0;
  friend bool operator==(const ServicePort&, const ServicePort&) = default;
};

struct ReplicaNote {
  std::string state;
  std::uint64_t restarts = 0;  // of its job: a note of an earlier attempt says nothing
  std::uint64_t starts = 0;    // of its program, in this attempt
  std::string host = {};
  std::vector<ServicePort> ports = {};
  friend bool operator==(const ReplicaNote&, const ReplicaNote&) = default;
};

std::string NoteText(const ReplicaNote& note);
std::optional<ReplicaNote> ReadNote(const std::string& text);

}  // namespace muster::cli
