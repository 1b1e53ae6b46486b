#pragma once

// The files of an OCI image layout, as one node sends them and another takes them.
//
// A layout of ours is three kinds of files: "oci-layout", "index.json" and "blobs/sha256/HEX". Who
// sends is not believed: names are of these kinds, a blob has the digest that it is called by, and
// the image is the one of the digest that was asked for, or one of that index. Thread promise: the
// one thread of the program. Invariants: nothing is written outside of the directory; no more than
// `bytes_max` in it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/runtime/mac.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

// Their names, in the order in which they are sent. NotFound: there is no layout.
absl::StatusOr<std::vector<std::string>> FilesOfLayout(const std::string& directory);

// Whether the layout's one image is that of `digest`: by its manifest, or by an index that is kept
// with it and names the manifest.
absl::Status CheckLayout(const std::string& directory, const std::string& digest);

// Keeps the raw index that `digest` is of beside the image that was chosen from it.
absl::Status KeepIndex(const std::string& directory, const std::string& digest,
                       std::string_view raw);

// A layout that is being written, file by file.
class LayoutDraft {
 public:
  static absl::StatusOr<LayoutDraft> Make(std::string directory, std::uint64_t bytes_max);

  // Begins the file of that name; the one before is checked.
  absl::Status Begin(std::string_view name);
  absl::Status Add(std::string_view data);
  // Checks the last one.
  absl::Status End();

 private:
  LayoutDraft(std::string directory, std::uint64_t bytes_max)
      : directory_(std::move(directory)), bytes_left_(bytes_max) {}

  std::string directory_;
  std::uint64_t bytes_left_;
  std::size_t files_ = 0;
  std::string name_;
  UniqueFd file_;
  std::optional<Sha256> hash_;  // of a blob
};

}  // namespace muster::agent
