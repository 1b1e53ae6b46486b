#pragma once

// What signatures on the agents' streams are for (scheduler/runtime/identity/signing_key.h): the
// controller signs with these words in front, and the agent verifies with them.
//
// Invariant: they differ from one another, and change with the meaning of what is signed.

namespace muster {

// An OrderBody's bytes, by the key that the Welcome names.
inline constexpr const char* kOrderPurpose = "muster order 1";
// That key's PEM, by the key of the controller's certificate.
inline constexpr const char* kOrderKeyPurpose = "muster order key 1";

// The clocks of a controller and its agents differ by at most that many seconds.
inline constexpr int kClocksDifferSeconds = 30;

}  // namespace muster
