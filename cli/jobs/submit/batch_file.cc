#include "cli/jobs/submit/batch_file.h"

#include <iostream>
#include <iterator>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/frame/command_line.h"
#include "cli/jobs/submit/submission.h"
#include "cli/parse/word_line.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"

namespace muster::cli {
namespace {

constexpr std::size_t kLinesMax = 100'000;

// Scripts that many lines name are read once.
using Scripts = std::map<std::string, Script>;

absl::StatusOr<Script> FindScript(const Invocation& invocation, Scripts& scripts) {
  if (invocation.Has("wrap") || invocation.arguments.empty()) {
    return ReadScriptOf(invocation);
  }
  const std::string& path = invocation.arguments.front();
  auto known = scripts.find(path);
  if (known == scripts.end()) {
    ASSIGN_OR_RETURN(Script script, ReadScriptOf(invocation));
    known = scripts.emplace(path, std::move(script)).first;
  }
  return known->second;
}

absl::StatusOr<std::string> TextOf(const std::string& path) {
  if (path == "-") {
    return std::string(std::istreambuf_iterator<char>(std::cin), {});
  }
  return ReadFile(path);
}

absl::StatusOr<JobRequest> ReadLine(const Verb& verb, const Invocation& asked,
                                    const std::vector<std::string>& words, const Address& address,
                                    Scripts& scripts) {
  ASSIGN_OR_RETURN(Invocation line, ParseVerb(verb, asked.verbs, asked.environment, words));
  for (const char* whole : {"batch", "json", "wait", "test-only"}) {
    if (line.Has(whole)) {
      return absl::InvalidArgumentError(absl::StrCat("--", whole, ": not in a line of a batch"));
    }
  }
  for (const auto& [name, value] : asked.values) {
    if (name != "batch" && !(name == "wrap" && !line.arguments.empty())) {
      line.values.try_emplace(name, value);
    }
  }
  ASSIGN_OR_RETURN(const Script script, FindScript(line, scripts));
  return MakeSubmission(line, address, script);
}

}  // namespace

absl::StatusOr<Script> ReadScriptOf(const Invocation& invocation) {
  if (invocation.Has("wrap")) {
    if (!invocation.arguments.empty()) {
      return absl::InvalidArgumentError("--wrap and SCRIPT exclude each other: give one");
    }
    return WrapCommand(invocation.Value("wrap"));
  }
  if (invocation.arguments.empty()) {
    return absl::InvalidArgumentError("missing SCRIPT: name one, or - for stdin, or --wrap CMD");
  }
  return LoadScript(invocation.arguments.front());
}

absl::StatusOr<std::vector<BatchLine>> ReadBatchFile(const Verb& verb, const Invocation& asked,
                                                     const std::string& path,
                                                     const Address& address) {
  ASSIGN_OR_RETURN(const std::string text, TextOf(path));
  std::vector<BatchLine> batch;
  Scripts scripts;
  std::size_t number = 0;
  for (const auto piece : absl::StrSplit(text, '\n')) {
    ++number;
    const auto in_line = [&](const absl::Status& status) {
      return absl::Status(status.code(),
                          absl::StrCat(path, ":", number, ": ", std::string(status.message())));
    };
    const absl::StatusOr<std::vector<std::string>> words =
        ParseWordLine({piece.data(), piece.size()});
    if (!words.ok()) {
      return in_line(words.status());
    }
    if (words->empty()) {
      continue;
    }
    absl::StatusOr<JobRequest> request = ReadLine(verb, asked, *words, address, scripts);
    if (!request.ok()) {
      return in_line(absl::IsCancelled(request.status())
                         ? absl::InvalidArgumentError("--help: not in a line of a batch")
                         : request.status());
    }
    if (batch.size() == kLinesMax) {
      return in_line(absl::InvalidArgumentError(
          absl::StrCat("more than ", kLinesMax, " submissions: use several files, or an array")));
    }
    batch.push_back(BatchLine{number, *std::move(request)});
  }
  return batch;
}

}  // namespace muster::cli
