#pragma once

// What a session is opened with, and what of it is allowed.

#include <cstdint>
#include <string>

#include "checkpoint/advice/retention.h"
#include "checkpoint/disk/error.h"

namespace muster::checkpoint {

struct SessionOptions {
  std::string directory;  // there, and this user's
  std::string job;        // a name; what is restored must bear it
  std::uint32_t attempt = 0;
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;
  bool repartitionable = false;  // another number of ranks may read the shards
  std::uint32_t keep = 2;        // complete generations; and see retention.h
  std::uint64_t milestone = 0;
  double age_s = 0;
  std::uint64_t bytes_max = 0;  // of a directory's complete generations
  double interval_s = 0;        // 0: only what the hints say
  std::string hints{};          // a hint file's path, or none
  std::string progress{};       // a progress file's, where there is one
  std::string topology{};       // remarks for people
  std::string software{};
  std::string hardware{};
  std::string local_directory{};  // on the node's own disk; "": no local level
  std::uint32_t parities = 0;     // what a set of ranks may lose of its local levels
  std::uint32_t set_size = 8;
  std::string failure_domain{};  // lost together; "": the host's name
  bool together = false;         // ranks that a Collective holds together
  std::string flush_program{};   // muster-checkpoint-flush; "": where it is installed
  std::string admission{};       // see store/admission.h
};

// kUsage, with the option that is wrong.
Error CheckOptions(const SessionOptions& options);

// kUsage on another rank than 0. `call` is the name of what only rank 0 may do.
Error CheckRankZero(const SessionOptions& options, const char* call);

Retention RetentionOf(const SessionOptions& options);

}  // namespace muster::checkpoint
