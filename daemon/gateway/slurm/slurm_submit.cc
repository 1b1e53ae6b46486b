#include "daemon/gateway/slurm/slurm_submit.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "daemon/gateway/slurm/slurm_values.h"
#include "scheduler/base/status.h"

namespace muster::daemon::slurm {
namespace {

constexpr std::uint64_t kMebibytes = std::uint64_t{1} << 20;
constexpr std::int64_t kMinutes = 60'000;
constexpr std::uint32_t kUsualUmask = 0022;

absl::Status BadField(const std::string& name, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat("job.", name, ": ", why));
}

absl::StatusOr<std::string> TextIn(const std::string& name, const Json& value) {
  if (!value.is_string()) {
    return BadField(name, "a text");
  }
  return value.get<std::string>();
}

// 7, "7", or {"set": true, "number": 7}; nothing said is 0.
absl::StatusOr<std::uint64_t> NumberIn(const std::string& name, const Json& value) {
  std::uint64_t number = 0;
  if (value.is_number_unsigned()) {
    return value.get<std::uint64_t>();
  }
  if (value.is_string() && absl::SimpleAtoi(value.get<std::string>(), &number)) {
    return number;
  }
  if (value.is_object() && value.value("infinite", Json(false)) == false &&
      value.value("set", Json(true)) == false) {
    return 0;
  }
  if (value.is_object() && value.contains("number") && value.at("number").is_number_unsigned() &&
      value.value("infinite", Json(false)) == false) {
    return value.at("number").get<std::uint64_t>();
  }
  return BadField(name, "a whole number, as 7 or {\"set\": true, \"number\": 7}");
}

absl::StatusOr<std::uint32_t> CountIn(const std::string& name, const Json& value) {
  ASSIGN_OR_RETURN(const std::uint64_t number, NumberIn(name, value));
  if (number > UINT32_MAX) {
    return BadField(name, "too large");
  }
  return static_cast<std::uint32_t>(number);
}

// "2" or "1-3".
absl::Status ReadNodes(const std::string& name, const Json& value, wire::ResourceRequest& request) {
  const std::string text = value.is_string() ? value.get<std::string>() : "";
  const std::vector<std::string> ends = absl::StrSplit(text, '-');
  std::uint32_t least = 0;
  std::uint32_t most = 0;
  if (value.is_string() && ends.size() == 2 && absl::SimpleAtoi(ends[0], &least) &&
      absl::SimpleAtoi(ends[1], &most)) {
    request.set_min_nodes(least);
    request.set_max_nodes(most);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(least, CountIn(name, value));
  request.set_min_nodes(least);
  request.set_max_nodes(least);
  return absl::OkStatus();
}

// "gres/gpu:2", "gpu:a100:2", "gres:gpu=2".
absl::Status ReadGpus(const std::string& name, const Json& value, wire::GpuRequest& gpus) {
  ASSIGN_OR_RETURN(const std::string text, TextIn(name, value));
  std::vector<std::string> words = absl::StrSplit(text, absl::ByAnyChar("/:="));
  if (words.front() == "gres") {
    words.erase(words.begin());
  }
  std::uint32_t count = 1;
  if (words.empty() || words.size() > 3 || words.front() != "gpu" ||
      (words.size() > 1 && !absl::SimpleAtoi(words.back(), &count))) {
    return BadField(name, "GPUs alone, as \"gres/gpu:2\" or \"gres/gpu:a100:2\"");
  }
  gpus.set_count(count);
  if (words.size() == 3) {
    gpus.set_type(words[1]);
  }
  return absl::OkStatus();
}

// "0-9:2,12%4".
absl::Status ReadArray(const std::string& name, const Json& value, wire::ArraySpec& array) {
  ASSIGN_OR_RETURN(const std::string text, TextIn(name, value));
  const std::vector<std::string> parts = absl::StrSplit(text, '%');
  std::uint32_t running = 0;
  if (parts.size() > 2 || (parts.size() == 2 && !absl::SimpleAtoi(parts[1], &running))) {
    return BadField(name, "indices such as \"0-9:2,12%4\"");
  }
  array.set_max_running(running);
  for (const std::string& word : std::vector<std::string>(absl::StrSplit(parts[0], ','))) {
    const std::vector<std::string> stepped = absl::StrSplit(word, ':');
    const std::vector<std::string> ends = absl::StrSplit(stepped[0], '-');
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::uint32_t step = 1;
    if (stepped.size() > 2 || ends.size() > 2 || !absl::SimpleAtoi(ends.front(), &first) ||
        !absl::SimpleAtoi(ends.back(), &last) || last < first ||
        (stepped.size() == 2 && !absl::SimpleAtoi(stepped[1], &step)) || step == 0) {
      return BadField(name, "indices such as \"0-9:2,12%4\"");
    }
    wire::ArrayRange& range = *array.add_ranges();
    range.set_first(first);
    range.set_last(last);
    range.set_step(step);
  }
  return absl::OkStatus();
}

// A list of "A=b", or an object.
absl::Status ReadEnvironment(const std::string& name, const Json& value, wire::Program& program) {
  for (auto member = value.begin(); member != value.end(); ++member) {
    if (!member->is_string()) {
      return BadField(name, "texts \"NAME=value\"");
    }
    const std::string text = value.is_object()
                                 ? absl::StrCat(member.key(), "=", member->get<std::string>())
                                 : member->get<std::string>();
    if (text.find('=') == std::string::npos || text.front() == '=') {
      return BadField(name, "texts \"NAME=value\"");
    }
    program.add_environment(text);
  }
  return absl::OkStatus();
}

using Reader = std::function<absl::Status(const std::string& name, const Json& value,
                                          wire::SubmitRequest& request)>;

Reader Text(void (*set)(wire::SubmitRequest&, std::string)) {
  return [set](const std::string& name, const Json& value, wire::SubmitRequest& request) {
    absl::StatusOr<std::string> text = TextIn(name, value);
    if (text.ok()) {
      set(request, *std::move(text));
    }
    return text.status();
  };
}

Reader Whole(void (*set)(wire::SubmitRequest&, std::uint32_t)) {
  return [set](const std::string& name, const Json& value, wire::SubmitRequest& request) {
    const absl::StatusOr<std::uint32_t> number = CountIn(name, value);
    if (number.ok()) {
      set(request, *number);
    }
    return number.status();
  };
}

using ReaderTable = std::map<std::string, Reader>;
using Body = wire::SubmitRequest;

wire::ResourceRequest& RequestOf(Body& body) {
  return *body.mutable_spec()->mutable_request();
}

void AddTexts(ReaderTable& table) {
  table["name"] = Text([](Body& b, std::string t) { b.mutable_spec()->set_name(std::move(t)); });
  table["account"] =
      Text([](Body& b, std::string t) { b.mutable_spec()->set_account(std::move(t)); });
  table["partition"] =
      Text([](Body& b, std::string t) { b.mutable_spec()->set_partition(std::move(t)); });
  table["qos"] = Text([](Body& b, std::string t) { b.mutable_spec()->set_qos(std::move(t)); });
  table["reservation"] =
      Text([](Body& b, std::string t) { b.mutable_spec()->set_reservation(std::move(t)); });
  table["comment"] =
      Text([](Body& b, std::string t) { b.mutable_spec()->set_comment(std::move(t)); });
  table["script"] =
      Text([](Body& b, std::string t) { b.mutable_program()->set_script(std::move(t)); });
  table["current_working_directory"] =
      Text([](Body& b, std::string t) { b.mutable_program()->set_work_dir(std::move(t)); });
  table["standard_input"] =
      Text([](Body& b, std::string t) { b.mutable_program()->set_stdin_path(std::move(t)); });
  table["standard_output"] =
      Text([](Body& b, std::string t) { b.mutable_program()->set_stdout_path(std::move(t)); });
  table["standard_error"] =
      Text([](Body& b, std::string t) { b.mutable_program()->set_stderr_path(std::move(t)); });
}

void AddNumbers(ReaderTable& table) {
  table["tasks"] = Whole([](Body& b, std::uint32_t n) { RequestOf(b).set_tasks(n); });
  table["tasks_per_node"] =
      Whole([](Body& b, std::uint32_t n) { RequestOf(b).set_tasks_per_node(n); });
  table["cpus_per_task"] =
      Whole([](Body& b, std::uint32_t n) { RequestOf(b).set_cpus_per_task(n); });
  table["minimum_nodes"] = Whole([](Body& b, std::uint32_t n) { RequestOf(b).set_min_nodes(n); });
  table["maximum_nodes"] = Whole([](Body& b, std::uint32_t n) { RequestOf(b).set_max_nodes(n); });
  table["memory_per_node"] =
      Whole([](Body& b, std::uint32_t n) { RequestOf(b).set_memory_per_node(n * kMebibytes); });
  table["memory_per_cpu"] =
      Whole([](Body& b, std::uint32_t n) { RequestOf(b).set_memory_per_cpu(n * kMebibytes); });
  table["time_limit"] =
      Whole([](Body& b, std::uint32_t n) { b.mutable_spec()->set_time_limit(n * kMinutes); });
  table["begin_time"] =
      Whole([](Body& b, std::uint32_t n) { b.mutable_spec()->set_begin(std::int64_t{n} * 1000); });
}

Reader Switch(void (*set)(Body&, bool)) {
  return [set](const std::string& name, const Json& value, Body& body) {
    if (!value.is_boolean()) {
      return BadField(name, "true or false");
    }
    set(body, value.get<bool>());
    return absl::OkStatus();
  };
}

absl::Status ReadWords(const std::string& name, const Json& value, Body& body) {
  for (const Json& word : value) {
    ASSIGN_OR_RETURN(const std::string text, TextIn(name, word));
    body.mutable_program()->add_argv(text);
  }
  return absl::OkStatus();
}

void AddGrammars(ReaderTable& table) {
  table["nodes"] = [](const std::string& name, const Json& value, Body& body) {
    return ReadNodes(name, value, RequestOf(body));
  };
  table["tres_per_job"] = [](const std::string& name, const Json& value, Body& body) {
    return ReadGpus(name, value, *RequestOf(body).mutable_gpus());
  };
  table["tres_per_node"] = [](const std::string& name, const Json& value, Body& body) {
    return ReadGpus(name, value, *RequestOf(body).mutable_gpus_per_node());
  };
  table["tres_per_task"] = [](const std::string& name, const Json& value, Body& body) {
    return ReadGpus(name, value, *RequestOf(body).mutable_gpus_per_task());
  };
  table["array"] = [](const std::string& name, const Json& value, Body& body) {
    return ReadArray(name, value, *body.mutable_spec()->mutable_array());
  };
  table["environment"] = [](const std::string& name, const Json& value, Body& body) {
    return ReadEnvironment(name, value, *body.mutable_program());
  };
  table["argv"] = ReadWords;
  table["hold"] = Switch([](Body& body, bool on) { body.mutable_spec()->set_held(on); });
  table["requeue"] = Switch([](Body& body, bool on) {
    body.mutable_spec()->set_requeue(on ? wire::CHOICE_YES : wire::CHOICE_NO);
  });
}

// What may be said; null: it changes nothing here.
const ReaderTable& Readers() {
  static const ReaderTable readers = [] {
    ReaderTable table;
    AddTexts(table);
    AddNumbers(table);
    AddGrammars(table);
    // Who asks is known by the token; the others only label.
    for (const char* name :
         {"user_id", "group_id", "wckey", "admin_comment", "mcs_label", "cluster_constraint"}) {
      table[name] = nullptr;
    }
    return table;
  }();
  return readers;
}

absl::Status ReadFields(const Json& job, wire::SubmitRequest& request) {
  for (const auto& [name, value] : job.items()) {
    const auto reader = Readers().find(name);
    if (reader == Readers().end()) {
      return BadField(name, "not taken here; muster submit may know it");
    }
    if (reader->second != nullptr && !value.is_null()) {
      RETURN_IF_ERROR(reader->second(name, value, request));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<wire::SubmitRequest> ReadSubmission(const std::string& body) {
  const Json whole = Json::parse(body, nullptr, false);
  if (!whole.is_object() || !whole.contains("job") || !whole.at("job").is_object()) {
    return absl::InvalidArgumentError(
        R"(say {"script": "#!/bin/sh\n…", "job": {"current_working_directory": "/…", …}})");
  }
  wire::SubmitRequest request;
  wire::JobSpec& spec = *request.mutable_spec();
  wire::Program& program = *request.mutable_program();
  spec.set_kind(wire::JOB_KIND_BATCH);
  program.set_umask(kUsualUmask);
  if (whole.contains("script") && whole.at("script").is_string()) {
    program.set_script(whole.at("script").get<std::string>());
  }
  RETURN_IF_ERROR(ReadFields(whole.at("job"), request));
  if (program.script().empty()) {
    return absl::InvalidArgumentError("script: a job runs a script, whose text is said here");
  }
  if (!absl::StartsWith(program.work_dir(), "/")) {
    return BadField("current_working_directory", "an absolute path, without which nothing runs");
  }
  if (program.environment().empty()) {
    return BadField("environment", "at least one variable, as slurmrestd wants it, such as PATH");
  }
  if (spec.name().empty()) {
    spec.set_name("openapi");
  }
  if (program.stdout_path().empty()) {
    program.set_stdout_path(spec.has_array() ? "slurm-%A_%a.out" : "slurm-%j.out");
  }
  return request;
}

}  // namespace muster::daemon::slurm
