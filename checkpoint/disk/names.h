#pragma once

// The names that a checkpoint directory holds, and those that users give to regions and jobs.
//
// Nothing that is read from a file ever becomes a path: names of generations and shards are made
// from numbers, and only what is exactly so made is recognised. Invariants: a name made here has no
// '/', is not "." or "..", and is at most 64 bytes.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster::checkpoint {

inline constexpr std::size_t kNameBytesMax = 64;
inline constexpr std::uint32_t kRanksMax = 1'000'000;
inline constexpr std::uint64_t kGenerationMax = 9'999'999'999;

inline constexpr const char* kManifestName = "manifest";
inline constexpr const char* kLatestName = "latest";
inline constexpr const char* kRestartingName = "restarting";
inline constexpr const char* kLockName = "lock";
inline constexpr const char* kFlushLockName = "flush.lock";
inline constexpr const char* kFlushErrorName = "flush-error";

enum class GenerationState {
  kComplete,  // gen-0000000012
  kPartial,   // gen-0000000012.tmp: being written, or left by a killed writer
  kSetAside,  // gen-0000000012.bad: a restart from it failed
  kDoomed,    // gen-0000000012.del: being removed
};

struct GenerationName {
  std::uint64_t number = 0;
  GenerationState state = GenerationState::kComplete;
  friend bool operator==(const GenerationName&, const GenerationName&) = default;
};

std::string ToText(const GenerationName& name);
// Nothing unless `text` is exactly what ToText gives.
std::optional<GenerationName> ParseGenerationName(std::string_view text);

// "gen-0000000012.from-0123456789abcdef": a generation that comes shard by shard from the ranks'
// local levels. The seal is its manifest's checksum, so that two of one number never mix.
struct ArrivalName {
  std::uint64_t number = 0;
  std::uint64_t seal = 0;
  friend bool operator==(const ArrivalName&, const ArrivalName&) = default;
};

std::string ToText(const ArrivalName& name);
std::optional<ArrivalName> ParseArrivalName(std::string_view text);

// "flush-0000000012" waits for its flush, "flushing-0000000012" is being flushed.
struct FlushName {
  std::uint64_t number = 0;
  bool begun = false;
  friend bool operator==(const FlushName&, const FlushName&) = default;
};

std::string ToText(const FlushName& name);
std::optional<FlushName> ParseFlushName(std::string_view text);

// 16 lower-case digits, and only those.
std::string HexText(std::uint64_t number);
std::optional<std::uint64_t> ParseHex(std::string_view text);

// "shard-000007".
std::string ShardName(std::uint32_t rank);

// Letters, digits, '.', '_' and '-', 1 to 64 of them, but not "." or "..": what a job or a region
// may be called.
bool IsName(std::string_view text);

// One line of printable ASCII, up to 255 bytes, empty too: versions and other remarks.
bool IsRemark(std::string_view text);

}  // namespace muster::checkpoint
