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
       {"SQLite", "libpq", "protobuf", "zstd", "xxhash"}},
      // slurmrestd's texts are those of Slurm's commands: one reader for both.
      {"daemon/gateway",
       {"cli/parse", "daemon", "proto/convert", "proto", "scheduler/runtime", "scheduler/model",
        "scheduler/base"},
       {"gRPC", "protobuf", "CLI11", "nlohmann-json", "systemd"}},
      {"daemon",
       {"scheduler/core", "scheduler/settings", "daemon/store", "topology", "proto/convert",
        "proto", "scheduler/runtime", "scheduler/model", "scheduler/base"},
       {"gRPC", "protobuf", "CLI11", "nlohmann-json", "systemd"}},
      {"agent/kernels", {"checkpoint"}, {"MPI", "CUDA", "Highway", "nlohmann-json", "CLI11"}},
      // The agent, too, looks into users' caches of images.
      {"agent/supervisor/image/cache",
       {"agent/supervisor", "scheduler/runtime", "scheduler/model", "scheduler/base"},
       {"nlohmann-json"}},
      // The program that makes containers reads and writes the documents of OCI and CDI.
      {"agent/supervisor/image",
       {"agent/supervisor/image/cache", "agent/supervisor", "proto/convert", "proto",
        "scheduler/runtime", "scheduler/model", "scheduler/base"},
       {"protobuf", "nlohmann-json", "libyaml"}},
      // The PMIx module, apart from the supervisor, tells ranks where they share caches: hwloc's
      // words. The page of checkpoint hints is the library's: one definition for who writes it and
      // who reads it.
      {"agent/supervisor",
       {"checkpoint", "topology", "proto/convert", "proto", "scheduler/runtime", "scheduler/model",
        "scheduler/base"},
       {"protobuf", "PMIx", "libbpf", "hwloc"}},
      // The module that sshd loads.
      {"agent/pam", {"agent/supervisor", "scheduler/runtime"}, {"PAM"}},
      {"agent",
       {"agent/supervisor/image/cache", "agent/supervisor", "topology", "proto/convert", "proto",
        "scheduler/runtime", "scheduler/model", "scheduler/base"},
       {"gRPC", "protobuf", "CLI11", "libbpf", "systemd", "nlohmann-json"}},
      {"cli/parse", {"scheduler/model", "scheduler/base"}, {}},
      {"cli",
       {"cli/parse", "scheduler/simulator", "scheduler/settings", "scheduler/core", "topology",
        "checkpoint", "proto/convert", "proto", "scheduler/runtime", "scheduler/model",
        "scheduler/base"},
       {"gRPC", "protobuf", "CLI11", "nlohmann-json"}},
      {"checkpoint", {}, {"MPI", "CUDA", "xxhash"}},
  };
  return floors;
}

struct Library {
  std::string_view header;  // What its includes start with.
  std::string_view name;
};

constexpr std::array<Library, 31> kLibraries = {{
    {"grpcpp/", "gRPC"},
    {"grpc/", "gRPC"},
    {"google/protobuf/", "protobuf"},
    {"sqlite3", "SQLite"},
    {"libpq", "libpq"},
    {"hwloc", "hwloc"},
    {"numa.h", "libnuma"},
    {"numaif.h", "libnuma"},
    {"nvml", "NVML"},
    {"pmix", "PMIx"},
    {"security/", "PAM"},
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

struct Wing {
  std::string_view folder;
  std::string_view space;
};

// A wing's tests stand in its namespace: tests/unit/FOLDER counts as FOLDER. A longer folder stands
// before the shorter one that contains it.
constexpr std::array<Wing, 9> kWings = {{
    {"agent/kernels", "muster::kernels"},
    {"agent", "muster::agent"},
    {"cli/slurm", "muster::cli::slurm"},
    {"cli", "muster::cli"},
    {"daemon", "muster::daemon"},
    {"scheduler/core", "muster::core"},
    {"scheduler/simulator", "muster::sim"},
    {"tests/sim", "muster::sim"},
    {"topology", "muster::topology"},
}};

bool IsBelow(std::string_view name, std::string_view parent, std::string_view separator) {
  return name.starts_with(parent) &&
         (name.size() == parent.size() || name.substr(parent.size()).starts_with(separator));
}

// The namespace that the files of this path open; `muster` where no wing has the file.
std::string_view SpaceOf(std::string_view path) {
  constexpr std::string_view kTests = "tests/unit/";
  path.remove_prefix(path.starts_with(kTests) ? kTests.size() : 0);
  for (const Wing& wing : kWings) {
    if (IsBelow(path, wing.folder, "/")) {
      return wing.space;
    }
  }
  return "muster";
}

bool IsOfAWing(std::string_view space) {
  return std::any_of(kWings.begin(), kWings.end(),
                     [&](const Wing& wing) { return IsBelow(space, wing.space, "::"); });
}

// The kernels' interface for users' programs stands in `muster`; benchmarks stand in what they
// measure.
bool MayOpen(std::string_view home, std::string_view space) {
  return home == "muster" || home == "muster::kernels"
             ? !IsOfAWing(space) || IsBelow(space, "muster::kernels", "::")
             : IsBelow(space, home, "::");
}

std::string_view TakeLine(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// Whether the block whose inside `text` begins with holds declarations of types, and nothing else.
bool OnlyDeclares(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = TakeLine(text);
    if (line.starts_with("}")) {
      return true;
    }
    const bool declares = line.starts_with("class ") || line.starts_with("struct ") ||
                          line.starts_with("enum class ");
    if (line.find_first_not_of(' ') != std::string_view::npos &&
        (!declares || line.find('{') != std::string_view::npos)) {
      return false;
    }
  }
  return false;
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

std::vector<Finding> CheckNamespaces(const Source& source) {
  std::vector<Finding> findings;
  if (!IsCode(source)) {
    return findings;
  }
  constexpr std::string_view kKeyword = "namespace ";
  const std::string_view home = SpaceOf(source.path);
  std::string_view text = source.code;
  for (size_t number = 1; !text.empty(); ++number) {
    std::string_view line = TakeLine(text);
    if (!line.starts_with("namespace muster") || line.find('{') == std::string_view::npos) {
      continue;
    }
    line.remove_prefix(kKeyword.size());
    const std::string_view space = line.substr(0, line.find(' '));
    if (!MayOpen(home, space) && !OnlyDeclares(text)) {
      findings.push_back({source.path, number,
                          "opens namespace " + std::string(space) + ", but this folder's is " +
                              std::string(home) +
                              ". Open that one and write the other wing's names in full: two "
                              "wings that share a namespace can define one name twice"});
    }
  }
  return findings;
}

}  // namespace muster::tidy
