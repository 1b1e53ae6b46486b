#pragma once

// The small pieces of slurmrestd's answers, as its data_parser v0.0.40 writes them.
//
// Pure, but for JustNow. Invariant: every answer has its errors, warnings and meta.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

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

std::string DumpJson(const Json& json);

// An answer, with a list of it that may be long as text: a tree of 10,000 jobs takes 300 MB.
struct SlurmAnswer {
  // NOLINTNEXTLINE(google-explicit-constructor): most answers have no such list.
  SlurmAnswer(Json said) : body(std::move(said)) {}
  SlurmAnswer(Json said, std::string list, std::string text)
      : body(std::move(said)), name(std::move(list)), entries(std::move(text)) {}
  Json body;
  std::string name;     // of the list; empty: there is none
  std::string entries;  // of it, with commas between
};
// The whole, completed, as text.
std::string AnswerText(SlurmAnswer answer);
// Completes an answer; it may say warnings itself.
Json Answer(Json body);
// The answer to what went wrong.
Json ErrorAnswer(const std::string& source, const std::string& error);

}  // namespace muster::daemon::slurm
