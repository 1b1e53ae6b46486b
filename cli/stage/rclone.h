#pragma once

// Copies to and from object stores by rclone, with its own retries and its user's configuration.
//
// Thread promise: one thread; it blocks. Invariant: OK means that rclone said so by its exit code.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/frame/environment.h"
#include "cli/stage/copied_tree.h"

namespace muster::cli {

// One line of rclone's log (--use-json-log): how far it is, or something that it has to say.
struct RcloneLine {
  std::uint64_t done = 0;
  std::uint64_t total = 0;
  std::optional<std::string> says;  // none: it says how far it is
};
RcloneLine ReadRcloneLine(const std::string& line);

// What a store's list says: of each file a line, TIME, SIZE and PATH with tabs between them.
absl::StatusOr<SourceState> StateOfList(const std::string& from, std::vector<std::string> files);

// Of a file, or of all below a directory, by the store's list. What rclone says goes to standard
// error. NotFound: there is no rclone here.
absl::StatusOr<SourceState> StateByRclone(const std::string& from, const Environment& environment);

// What rclone did with these words ("lsf", "s3:bucket"), without a word to anybody else. NotFound:
// there is no rclone here.
struct RcloneAnswer {
  int code = 0;      // its exit code; 128 and the signal that ended it
  std::string out;   // what it printed
  std::string said;  // the last line of what it had to say
};
absl::StatusOr<RcloneAnswer> RunRclone(std::vector<std::string> words,
                                       const Environment& environment);

// A file, or all of a directory; how many bytes were copied. What rclone says goes to standard
// error. NotFound: there is no rclone here.
absl::StatusOr<std::uint64_t> CopyByRclone(const std::string& from, const std::string& to,
                                           const Environment& environment, const TellBytes& tell);

}  // namespace muster::cli
