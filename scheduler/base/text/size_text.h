#pragma once

// Sizes in bytes as text: K, M, G, T, P and E are powers of 1024.
//
// Pure. Invariants: a size that is exactly a whole number of its unit is written without decimals;
// ParseSize reads back what SizeText wrote; nothing wraps round.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

// For people: "3 GiB", "1.5 GiB", "312 MiB", "7 B", to the nearest tenth. kDown for what there is
// of what was asked, so that almost enough does not read as enough.
enum class SizeRounding { kNearest, kDown };
std::string BytesText(std::uint64_t bytes, SizeRounding rounding = SizeRounding::kNearest);
// What is taken of all, in the unit of all: "1.5/8 GiB".
std::string BytesRatio(std::uint64_t taken, std::uint64_t all);

// For programs, exactly: "4G", "1536M", "512K", "7B"; "0" of none.
std::string SizeText(std::uint64_t bytes);
// What Slurm writes of memory: whole MiB, the rest dropped.
std::string SlurmSizeText(std::uint64_t bytes);

// What a number without a letter counts: in Slurm's options MiB, in configuration files bytes.
enum class PlainSize { kBytes, kMebibytes };

// A whole number with a unit or B (bytes) in either case, at most `max` bytes; nothing for any
// other text.
std::optional<std::uint64_t> ParseSize(std::string_view text, PlainSize plain, std::uint64_t max);

}  // namespace muster
