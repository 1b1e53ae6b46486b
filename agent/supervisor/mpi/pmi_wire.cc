#include "agent/supervisor/mpi/pmi_wire.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/status.h"

namespace muster::agent {
namespace {

constexpr std::size_t kNameMax = 256;

bool IsPlain(const std::string& text, std::size_t most) {
  return text.size() <= most &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

std::string ValueOf(const std::map<std::string, std::string>& words, const std::string& name) {
  const auto found = words.find(name);
  return found == words.end() ? std::string() : found->second;
}

absl::Status NoProtocol(std::string_view line) {
  constexpr std::size_t kShown = 60;
  std::string shown(line.substr(0, kShown));
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return c < 0x20 || c >= 0x7f; }, '?');
  return absl::InvalidArgumentError(absl::StrCat("not a line of PMI-1: \"", shown, "\""));
}

}  // namespace

absl::Status PmiStore::Put(const std::string& key, const std::string& value) {
  if (key.empty() || key.find('=') != std::string::npos || !IsPlain(key, PmiSession::kKeyMax) ||
      !IsPlain(value, PmiSession::kValueMax)) {
    return absl::InvalidArgumentError("a key or value that is too long, or not plain");
  }
  if (bytes_ + key.size() + value.size() > kBytesMax) {
    return absl::ResourceExhaustedError("more keys and values than are kept");
  }
  bytes_ += key.size() + value.size();
  values_[key] = value;
  absl::StrAppend(&fresh_, key, "=", value, "\n");
  return absl::OkStatus();
}

const std::string* PmiStore::Get(const std::string& key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

std::string PmiStore::TakeFresh() {
  return std::exchange(fresh_, std::string());
}

absl::Status PmiStore::Merge(std::string_view lines) {
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    const std::string line(lines.substr(0, end));
    const std::size_t equals = line.find('=');
    if (end == std::string_view::npos || equals == std::string::npos) {
      return NoProtocol(line);
    }
    RETURN_IF_ERROR(Put(line.substr(0, equals), line.substr(equals + 1)));
    lines.remove_prefix(end + 1);
  }
  fresh_.clear();  // it is theirs already
  return absl::OkStatus();
}

absl::StatusOr<std::string> PmiSession::Take(std::string_view bytes) {
  std::string answers;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    unfinished_.append(bytes.substr(0, end));
    if (unfinished_.size() > kLineMax) {
      return NoProtocol(unfinished_);
    }
    if (end == std::string_view::npos) {
      break;
    }
    bytes.remove_prefix(end + 1);
    ASSIGN_OR_RETURN(const std::string answer, TakeLine(std::exchange(unfinished_, "")));
    answers += answer;
  }
  return answers;
}

absl::StatusOr<std::string> PmiSession::TakeLine(const std::string& line) {
  if (in_spawn_) {
    in_spawn_ = line != "endcmd";
    return in_spawn_ ? std::string() : std::string("cmd=spawn_result rc=-1 errcodes=1\n");
  }
  if (line == "mcmd=spawn") {
    in_spawn_ = true;
    return std::string();
  }
  Words words;
  for (const std::string& word : std::vector<std::string>(absl::StrSplit(line, ' '))) {
    if (word.empty()) {
      continue;
    }
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0 ||
        !words.emplace(word.substr(0, equals), word.substr(equals + 1)).second) {
      return NoProtocol(line);
    }
  }
  const std::string command = ValueOf(words, "cmd");
  return command.empty() ? absl::StatusOr<std::string>(NoProtocol(line)) : Answer(command, words);
}

absl::StatusOr<std::string> PmiSession::Answer(const std::string& command, const Words& words) {
  if (command == "init") {
    handlers_.on_join();
    const bool known = ValueOf(words, "pmi_version") == "1";
    return absl::StrCat(
        "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=", known ? "0" : "-1", "\n");
  }
  if (command == "get_maxes") {
    return absl::StrCat("cmd=maxes kvsname_max=", kNameMax, " keylen_max=", kKeyMax,
                        " vallen_max=", kValueMax, "\n");
  }
  if (command == "get_appnum") {
    return std::string("cmd=appnum appnum=0\n");
  }
  if (command == "get_universe_size") {
    return absl::StrCat("cmd=universe_size size=", ranks_, "\n");
  }
  if (command == "get_my_kvsname") {
    return absl::StrCat("cmd=my_kvsname kvsname=", name_, "\n");
  }
  if (command == "put") {
    const absl::Status put = store_.Put(ValueOf(words, "key"), ValueOf(words, "value"));
    return std::string(put.ok() ? "cmd=put_result rc=0 msg=success\n"
                                : "cmd=put_result rc=-1 msg=refused\n");
  }
  if (command == "get") {
    return AnswerGet(words);
  }
  if (command == "barrier_in") {
    handlers_.on_barrier();
    return std::string();
  }
  if (command == "finalize") {
    handlers_.on_leave();
    return std::string("cmd=finalize_ack\n");
  }
  if (command == "abort") {
    int code = 1;
    if (!absl::SimpleAtoi(ValueOf(words, "exitcode"), &code)) {
      code = 1;
    }
    handlers_.on_abort(code);
    return std::string();
  }
  if (command == "publish_name" || command == "unpublish_name" || command == "lookup_name") {
    return absl::StrCat("cmd=", command.substr(0, command.size() - 5),
                        "_result rc=-1 msg=refused\n");
  }
  if (command == "spawn") {
    return std::string("cmd=spawn_result rc=-1 errcodes=1\n");
  }
  return NoProtocol(absl::StrCat("cmd=", command));
}

std::string PmiSession::AnswerGet(const Words& words) const {
  const std::string* value = store_.Get(ValueOf(words, "key"));
  return value == nullptr ? std::string("cmd=get_result rc=-1 msg=key_not_found value=unknown\n")
                          : absl::StrCat("cmd=get_result rc=0 msg=success value=", *value, "\n");
}

}  // namespace muster::agent
