#include "tests/tidy/floors.h"

#include <algorithm>
#include <array>

namespace muster::tidy {
namespace {

using Names = std::vector<std::string_view>;

struct Floor {
  std::string_view folder;
  Names folders;    // What of ours it may include, besides itself.
  Names libraries;  // Which of kLibraries.
};

// A longer folder stands before the shorter one that contains it.
const std::vector<Floor>& Floors() {
  static const std::vector<Floor> floors = {
      {"scheduler/base", {}, {}},
      {"scheduler/model", {"scheduler/base"}, {}},
      {"scheduler/core", {"scheduler/model", "scheduler/base"}, {}},
      {"scheduler/settings",
       {"scheduler/core", "scheduler/model", "scheduler/runtime", "scheduler/base"},
       {}},
      {"scheduler/runtime", {"scheduler/base"}, {"toml++", "systemd", "OpenSSL", "MUNGE"}},
      {"scheduler/simulator",
       {"scheduler/core", "scheduler/model", "scheduler/base"},
       {"nlohmann-json", "zstd", "zlib", "lzma"}},
      {"proto/convert", {"scheduler/model", "scheduler/base", "proto"}, {"protobuf"}},
      {"proto", {}, {"protobuf", "gRPC"}},
      {"topology",
       {"scheduler/model", "scheduler/runtime", "scheduler/base"},
       {"hwloc", "libnuma", "NVML", "nlohmann-json", "expat", "libyaml"}},
      {"daemon/store",
       {"scheduler/model", "scheduler/runtime", "scheduler/base", "proto/convert", "proto"},
       {"SQLite", "protobuf", "zstd", "xxhash"}},
      {"daemon",
       {"scheduler/core", "scheduler/settings", "daemon/store", "topology", "proto/convert",
        "proto", "scheduler/runtime", "scheduler/model", "scheduler/base"},
       {"gRPC", "protobuf", "CLI11", "nlohmann-json", "systemd"}},
      {"agent/kernels", {"checkpoint"}, {"MPI", "CUDA", "Highway", "nlohmann-json", "CLI11"}},
      // The PMIx module, apart from the supervisor, tells ranks where they share caches: hwloc's
      // words. The page of checkpoint hints is the library's: one definition for who writes it and
      // who reads it.
      {"agent/supervisor",
       {"checkpoint", "topology", "proto/convert", "proto", "scheduler/runtime", "scheduler/model",
        "scheduler/base"},
       {"protobuf", "PMIx", "libbpf", "hwloc"}},
      {"agent",
       {"agent/supervisor", "topology", "proto/convert", "proto", "scheduler/runtime",
        "scheduler/model", "scheduler/base"},
       {"gRPC", "protobuf", "CLI11", "libbpf", "systemd", "nlohmann-json"}},
      {"cli",
       {"scheduler/simulator", "scheduler/settings", "scheduler/core", "topology", "checkpoint",
        "proto/convert", "proto", "scheduler/runtime", "scheduler/model", "scheduler/base"},
       {"gRPC", "protobuf", "CLI11", "nlohmann-json"}},
      {"checkpoint", {}, {"MPI", "CUDA", "xxhash"}},
  };
  return floors;
}

struct Library {
  std::string_view header;  // What its includes start with.
  std::string_view name;
};

constexpr std::array<Library, 29> kLibraries = {{
    {"grpcpp/", "gRPC"},
    {"grpc/", "gRPC"},
    {"google/protobuf/", "protobuf"},
    {"sqlite3", "SQLite"},
    {"hwloc", "hwloc"},
    {"numa.h", "libnuma"},
    {"numaif.h", "libnuma"},
    {"nvml", "NVML"},
    {"pmix", "PMIx"},
    {"toml++/", "toml++"},
    {"CLI/", "CLI11"},
    {"nlohmann/", "nlohmann-json"},
    {"mpi.h", "MPI"},
    {"cuda", "CUDA"},
    {"nccl", "CUDA"},
    {"hwy/", "Highway"},
    {"systemd/", "systemd"},
    {"bpf/", "libbpf"},
    {"munge", "MUNGE"},
    {"zstd", "zstd"},
    {"xxhash", "xxhash"},
    {"zlib.h", "zlib"},
    {"openssl/", "OpenSSL"},
    {"lzma.h", "lzma"},
    {"expat.h", "expat"},
    {"yaml.h", "libyaml"},
    {"gtest/", "GoogleTest"},
    {"gmock/", "GoogleTest"},
    {"rapidcheck", "RapidCheck"},
}};

const Floor* FloorOf(std::string_view path) {
  for (const Floor& floor : Floors()) {
    if (path.starts_with(floor.folder) && path.substr(floor.folder.size()).starts_with("/")) {
      return &floor;
    }
  }
  return nullptr;
}

// The library that `header` belongs to, or nothing for the language's and the system's own. The
// generated service stubs live under proto/ but are gRPC.
std::string_view LibraryOf(std::string_view header) {
  if (header.ends_with(".grpc.pb.h")) {
    return "gRPC";
  }
  for (const Library& library : kLibraries) {
    if (header.starts_with(library.header)) {
      return library.name;
    }
  }
  return {};
}

bool Contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string Join(const Names& names) {
  std::string text;
  for (const std::string_view name : names) {
    text += text.empty() ? "" : ", ";
    text += name;
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace

std::vector<Finding> CheckIncludes(const Source& source) {
  std::vector<Finding> findings;
  const Floor* floor = IsCode(source) ? FloorOf(source.path) : nullptr;
  if (floor == nullptr) {
    return findings;
  }
  for (const Include& include : IncludesOf(source)) {
    const Floor* target = FloorOf(include.target);
    if (target != nullptr && target != floor && !Contains(floor->folders, target->folder)) {
      findings.push_back(
          {source.path, include.line,
           "includes \"" + include.target + "\", but " + std::string(floor->folder) +
               " may include only " + Join(floor->folders) +
               " (dependencies point down). Pass the value in as an argument, or move the type "
               "to the lowest floor that both may see"});
    }
    const std::string_view library = LibraryOf(include.target);
    if (!library.empty() && !Contains(floor->libraries, library)) {
      findings.push_back({source.path, include.line,
                          "includes <" + include.target + ">, but of the libraries " +
                              std::string(floor->folder) + " has " + Join(floor->libraries) +
                              ". Keep " + std::string(library) +
                              " behind the floor that owns it, so that one folder knows its API"});
    }
  }
  return findings;
}

}  // namespace muster::tidy
