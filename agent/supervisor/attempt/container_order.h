#pragma once

// What a supervisor asks of `muster-container`, the program that makes a container, or saves one,
// or has copies of data on the node, as the job's user, and what that answers.
//
// The order comes as a memory file on standard input; the answer is a packet on descriptor 3, a
// ContainerMade, which carries descriptors: of the container's user namespace, of its mount
// namespace, and of locks that keep its files while they are open. Before it
// may come another packet, whose `wanted` the agent passes on. Invariant: an answer with an error
// carries none.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/model/job/container.h"
#include "scheduler/model/job/report.h"
#include "scheduler/model/value/fields.h"

namespace muster::agent {

// No answer is larger: it has to fit into a socket's buffer.
inline constexpr std::size_t kContainerAnswerBytesMax = std::size_t{128} << 10;
// The descriptor of the program on which it answers.
inline constexpr int kContainerChannel = 3;

// Why the program fetches nothing ahead of its job now, but may in a while.
inline constexpr const char* kFetchBusy = "another fetch of the user's is under way";

// The variable that has the token of an ImageWanted for who gives the image: arguments are read by
// others.
inline constexpr const char* kImageTokenVariable = "MUSTER_IMAGE_TOKEN";

// Where `muster-rank` is seen in a container, also by the name under which it is a remote shell.
inline constexpr const char* kRankInside = "/.muster-rank";
inline constexpr const char* kShellInside = "/.muster-rsh";

// What a node has for jobs in containers.
struct ContainerSettings {
  std::string runtime;  // the OCI runtime's path; empty: no container can be made here
  std::string cache;    // the directory of users' directories, which are called by their numbers
  std::uint64_t cache_size = 0;             // bytes of each user's images that are kept
  std::vector<ContainerMount> mounts = {};  // in every container
  std::uint32_t fetch_patience = 120;       // seconds for which a registry may send nothing
  bool squashfuse = true;                   // serves squashfs files, where it can
  bool share = true;                        // images are taken from other nodes, and given to them
  bool one_machine = false;                 // all nodes are this machine
  static constexpr auto Fields(auto list) {
    return list(Field{"runtime", &ContainerSettings::runtime},
                Field{"cache", &ContainerSettings::cache},
                Field{"cache_size", &ContainerSettings::cache_size},
                Field{"mounts", &ContainerSettings::mounts},
                Field{"fetch_patience", &ContainerSettings::fetch_patience},
                Field{"squashfuse", &ContainerSettings::squashfuse},
                Field{"share", &ContainerSettings::share},
                Field{"one_machine", &ContainerSettings::one_machine});
  }
  friend bool operator==(const ContainerSettings&, const ContainerSettings&) = default;
};

// A GPU of the job, by the names that device descriptions call it.
struct ContainerGpu {
  std::uint32_t index = 0;
  std::string uuid;
  static constexpr auto Fields(auto list) {
    return list(Field{"index", &ContainerGpu::index}, Field{"uuid", &ContainerGpu::uuid});
  }
  friend bool operator==(const ContainerGpu&, const ContainerGpu&) = default;
};

// An image that a process of a node wants from another node, and where it listens for who has it.
struct ImageWanted {
  std::string image;                   // as it was asked for
  std::string digest;                  // "sha256:…"
  std::vector<std::string> addresses;  // "HOST:PORT"
  std::string token;                   // which who calls has to know
  static constexpr auto Fields(auto list) {
    return list(Field{"image", &ImageWanted::image}, Field{"digest", &ImageWanted::digest},
                Field{"addresses", &ImageWanted::addresses}, Field{"token", &ImageWanted::token});
  }
  friend bool operator==(const ImageWanted&, const ImageWanted&) = default;
};

struct ContainerMade {
  std::string error;                     // one line; empty: it is made
  std::string image;                     // "sha256:…", or a file's mark
  std::vector<std::string> environment;  // the image's: "NAME=value"
  std::string work_dir;                  // the image's; empty: /
  std::vector<std::string> entrypoint;   // the image's
  std::string rootfs = {};               // the directory of the image's files
  std::string changes = {};              // that of "upper", which holds what the container changes
  bool again = false;                    // with an error: the image may be had in a while
  // With a digest: this is no answer yet, but the word that other nodes are to be asked.
  ImageWanted wanted = {};
  static constexpr auto Fields(auto list) {
    return list(Field{"error", &ContainerMade::error}, Field{"image", &ContainerMade::image},
                Field{"environment", &ContainerMade::environment},
                Field{"work_dir", &ContainerMade::work_dir},
                Field{"entrypoint", &ContainerMade::entrypoint},
                Field{"rootfs", &ContainerMade::rootfs}, Field{"changes", &ContainerMade::changes},
                Field{"again", &ContainerMade::again}, Field{"wanted", &ContainerMade::wanted});
  }
  friend bool operator==(const ContainerMade&, const ContainerMade&) = default;
};

struct ContainerOrder {
  ContainerSpec spec;
  ContainerSettings settings;
  std::string attempt;              // its name: "7.1"
  std::vector<std::string> shared;  // directories that are seen at the same path
  std::vector<ContainerGpu> gpus;
  std::vector<std::string> device_files;  // that the job may open, beside those of every container
  std::string rank_program = {};          // the node's `muster-rank`; empty: it is not installed
  ContainerMade saved = {};  // to be saved as `spec` says; without a rootfs: one is to be made
  static constexpr auto Fields(auto list) {
    return list(Field{"spec", &ContainerOrder::spec}, Field{"settings", &ContainerOrder::settings},
                Field{"attempt", &ContainerOrder::attempt},
                Field{"shared", &ContainerOrder::shared}, Field{"gpus", &ContainerOrder::gpus},
                Field{"device_files", &ContainerOrder::device_files},
                Field{"rank_program", &ContainerOrder::rank_program},
                Field{"saved", &ContainerOrder::saved});
  }
  friend bool operator==(const ContainerOrder&, const ContainerOrder&) = default;
};

// What a node has for copies of data, which it keeps for jobs of the same user.
struct StagingSettings {
  std::string cache;       // the directory of users' directories, which are called by their numbers
  std::uint64_t size = 0;  // bytes of each user's copies that are kept
  std::string program = {};  // the path of `muster`, which copies; empty: no copies are made here
  static constexpr auto Fields(auto list) {
    return list(Field{"cache", &StagingSettings::cache}, Field{"size", &StagingSettings::size},
                Field{"program", &StagingSettings::program});
  }
  friend bool operator==(const StagingSettings&, const StagingSettings&) = default;
};

// Of which sources copies are made for jobs that wait. The process that makes one is in no job's
// group: it runs nothing of the user's for a path, and for a remote what the user's rclone runs.
enum class CopiesAhead : std::uint8_t { kNone, kPaths, kAll };

struct DataOrder {
  StagingSettings settings;
  std::string attempt;               // its name: "7.1"
  std::vector<std::string> sources;  // JobSpec::node_data
  static constexpr auto Fields(auto list) {
    return list(Field{"settings", &DataOrder::settings}, Field{"attempt", &DataOrder::attempt},
                Field{"sources", &DataOrder::sources});
  }
  friend bool operator==(const DataOrder&, const DataOrder&) = default;
};

// With it come descriptors of locks, which keep the copies while they are open.
struct DataAnswer {
  std::string error;       // one line; empty: all are there
  std::string place = {};  // the directory in which the job finds them by their names
  DataBrought brought = {};
  static constexpr auto Fields(auto list) {
    return list(Field{"error", &DataAnswer::error}, Field{"place", &DataAnswer::place},
                Field{"brought", &DataAnswer::brought});
  }
  friend bool operator==(const DataAnswer&, const DataAnswer&) = default;
};

// The argument with which `muster-container` takes a DataOrder in the place of a ContainerOrder.
inline constexpr const char* kBringVerb = "bring";
// With words after it: the copies are for a job that waits (data_copies.h).
inline constexpr const char* kBringAheadVerb = "bring-ahead";

// The program that makes containers, of the supervisor whose program is `ours`; empty: it is not
// installed.
std::string FindContainerProgram(const std::string& ours);

std::string EncodeContainerOrder(const ContainerOrder& order);
absl::StatusOr<ContainerOrder> DecodeContainerOrder(std::string_view bytes);
std::string EncodeImageWanted(const ImageWanted& wanted);
std::string EncodeContainerMade(const ContainerMade& made);
absl::StatusOr<ContainerMade> DecodeContainerMade(std::string_view bytes);
std::string EncodeDataOrder(const DataOrder& order);
absl::StatusOr<DataOrder> DecodeDataOrder(std::string_view bytes);
std::string EncodeDataAnswer(const DataAnswer& answer);
absl::StatusOr<DataAnswer> DecodeDataAnswer(std::string_view bytes);

}  // namespace muster::agent
