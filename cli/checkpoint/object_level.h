#pragma once

// Copies of a job's checkpoints on an object store, by rclone: the level that outlives the file
// systems of the cluster.
//
//   PLACE/gen-0000000012/…       its files, as they lie on the shared level
//   PLACE/gen-0000000012.whole   its manifest's checksum: written when all of them are there
//
// As the job's user, with that user's configuration of rclone. Thread promise: one thread; it
// blocks. Invariants: (1) what is cut off anywhere is not whole, for its mark is the last to come
// and the first to go; (2) the newest kObjectsKept whole ones stay; (3) what is fetched is complete
// on the shared level only after every byte of it matched its checksum.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/store/store.h"
#include "cli/frame/environment.h"

namespace muster::cli {

inline constexpr std::size_t kObjectsKept = 2;

struct ObjectGeneration {
  std::uint64_t number = 0;
  bool whole = false;
  friend bool operator==(const ObjectGeneration&, const ObjectGeneration&) = default;
};

// Of what `rclone lsf` lists, the newest first.
std::vector<ObjectGeneration> ReadObjectList(const std::string& list);

class ObjectLevel {
 public:
  // REQUIRES: the environment outlives it.
  ObjectLevel(std::string place, const Environment& environment)
      : place_(std::move(place)), environment_(environment) {}

  const std::string& place() const { return place_; }
  // Empty where there is nothing.
  absl::StatusOr<std::vector<ObjectGeneration>> List() const;
  // A complete generation; older ones go, but for those that are kept.
  absl::Status Push(const checkpoint::Store& store, std::uint64_t generation) const;
  // The newest whole one that was not set aside here, into the store; its number, 0 when there is
  // none. One that is damaged is passed over.
  absl::StatusOr<std::uint64_t> FetchNewest(checkpoint::Store& store) const;

 private:
  absl::Status Run(std::vector<std::string> words, const std::string& what) const;
  absl::Status Fetch(std::uint64_t generation, checkpoint::Store& store, bool* damaged) const;
  absl::Status Mark(const std::string& name, const checkpoint::Manifest& manifest) const;
  void Prune(std::uint64_t newest) const;
  void Remove(const ObjectGeneration& generation) const;
  [[nodiscard]] std::string At(const std::string& name) const { return place_ + "/" + name; }

  const std::string place_;
  const Environment& environment_;
};

}  // namespace muster::cli
