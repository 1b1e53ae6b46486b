#pragma once

// The small pieces of slurmrestd's answers, as its data_parser v0.0.40 writes them.
//
// Pure, but for JustNow. Invariant: every answer has its errors, warnings and meta.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace muster::daemon::slurm {

using Json = nlohmann::json;

// {"set": true, "infinite": false, "number": 7}; nothing: not set.
Json Number(std::optional<std::uint64_t> number);
Json Infinite();
// Of milliseconds since 1970; 0: not set.
Json Moment(std::int64_t milliseconds);
// When what the controller just said is true: a client that asks again misses nothing.
Json JustNow();
// Minutes, rounded up; 0: infinite.
Json Minutes(std::int64_t milliseconds);
// How a process ended.
Json Exit(std::int32_t code, std::int32_t signal);
std::int64_t WholeMebibytes(std::uint64_t bytes);

// Completes an answer; it may say warnings itself.
Json Answer(Json body);
// The answer to what went wrong.
Json ErrorAnswer(const std::string& source, const std::string& error);

}  // namespace muster::daemon::slurm
