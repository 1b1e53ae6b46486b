#include "scheduler/simulator/readers/trace_format.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/simulator/readers/batsim.h"
#include "scheduler/simulator/readers/number_text.h"
#include "scheduler/simulator/readers/swf.h"
#include "scheduler/simulator/readers/table_trace.h"

namespace muster::sim {
namespace {

constexpr std::array<const char*, 3> kUnits = {"usual", "cpus", "gpus"};
constexpr std::size_t kPeekedBytes = 4 * kLineBytesMax;

// A source whose first bytes have been looked at.
class PeekedSource final : public ByteSource {
 public:
  explicit PeekedSource(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}

  // Up to `size` bytes from the beginning. An error is kept for the one who reads on.
  std::string_view Peek(std::size_t size) {
    while (peeked_.size() < size) {
      const std::size_t before = peeked_.size();
      peeked_.resize(size);
      const absl::StatusOr<std::size_t> got = source_->Read(peeked_.data() + before, size - before);
      peeked_.resize(before + (got.ok() ? *got : 0));
      error_ = got.status();
      if (peeked_.size() == before) {
        break;
      }
    }
    return peeked_;
  }

  absl::StatusOr<std::size_t> Read(char* out, std::size_t size) override {
    const std::size_t kept = std::min(size, peeked_.size() - given_);
    if (kept != 0) {
      std::memcpy(out, peeked_.data() + given_, kept);
      given_ += kept;
      return kept;
    }
    RETURN_IF_ERROR(error_);
    return source_->Read(out, size);
  }

  [[nodiscard]] std::uint64_t consumed() const override { return source_->consumed(); }
  [[nodiscard]] std::uint64_t file_size() const override { return source_->file_size(); }

 private:
  std::unique_ptr<ByteSource> source_;
  std::string peeked_;
  std::size_t given_ = 0;  // of peeked_
  absl::Status error_;
};

// The first line with anything in it.
std::string_view FirstLine(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) {
    return {};
  }
  text.remove_prefix(begin);
  text = text.substr(0, text.find('\n'));
  return text.substr(0, text.size() - (!text.empty() && text.back() == '\r' ? 1 : 0));
}

bool IsSwfRecord(std::string_view line) {
  double number = 0;
  const std::string_view id = NextWord(&line);
  const std::string_view submit = NextWord(&line);
  return ReadDecimal(id, &number) && ReadDecimal(submit, &number);
}

bool HasExtension(const std::string& path, const char* extension) {
  const std::size_t folder = path.find_last_of('/');
  const std::string name = folder == std::string::npos ? path : path.substr(folder + 1);
  return absl::EndsWith(name, extension) || absl::StrContains(name, absl::StrCat(extension, "."));
}

absl::StatusOr<TraceFormat> Recognise(const std::string& path, std::string_view beginning) {
  const std::string_view line = FirstLine(beginning);
  if (!line.empty() && (line.front() == ';' || IsSwfRecord(line))) {
    return TraceFormat::kSwf;
  }
  if (!line.empty() && line.front() == '{') {
    return TraceFormat::kBatsim;
  }
  for (const TableFormat& table : TableFormats()) {
    if (IsHeaderOf(table, line)) {
      return table.format;
    }
  }
  if (line.empty() || HasExtension(path, ".swf")) {
    return TraceFormat::kSwf;  // Whose reader says best what is wrong with it.
  }
  if (HasExtension(path, ".json")) {
    return TraceFormat::kBatsim;
  }
  return absl::FailedPreconditionError(
      absl::StrCat(path, ":1: the format is not recognised (the first line is ", Shown(line),
                   "): name it with --format"));
}

absl::StatusOr<std::unique_ptr<TraceReader>> OpenAs(TraceFormat format, const TraceOptions& options,
                                                    std::unique_ptr<ByteSource> source) {
  std::unique_ptr<TraceReader> reader;
  if (format == TraceFormat::kSwf) {
    ASSIGN_OR_RETURN(reader, SwfReader::Begin(options.path, options.lenient, std::move(source)));
  } else if (format == TraceFormat::kBatsim) {
    ASSIGN_OR_RETURN(reader, BatsimReader::Begin(options.path, options.lenient, std::move(source)));
  } else {
    ASSIGN_OR_RETURN(reader, TableReader::Begin(options.path, options.lenient, std::move(source),
                                                TableFormatOf(format)));
  }
  return reader;
}

}  // namespace

const char* Name(TraceUnit unit) {
  return kUnits[static_cast<std::size_t>(unit)];
}

absl::StatusOr<TraceUnit> ParseTraceUnit(const std::string& name) {
  for (std::size_t i = 0; i < kUnits.size(); ++i) {
    if (name == kUnits[i]) {
      return static_cast<TraceUnit>(i);
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", name, "\" is not a unit: one of usual, cpus, gpus"));
}

absl::StatusOr<OpenedTrace> OpenTrace(const TraceOptions& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> file, ByteSource::Open(options.path));
  auto source = std::make_unique<PeekedSource>(std::move(file));
  OpenedTrace trace;
  if (options.format.has_value()) {
    trace.format = *options.format;
  } else {
    ASSIGN_OR_RETURN(trace.format, Recognise(options.path, source->Peek(kPeekedBytes)));
  }
  ASSIGN_OR_RETURN(trace.reader, OpenAs(trace.format, options, std::move(source)));
  trace.counts_gpus = options.unit == TraceUnit::kGpus ||
                      (options.unit == TraceUnit::kUsual && RowOf(trace.format).is_of_gpus);
  if (trace.counts_gpus) {
    trace.reader->CountGpus();
  }
  return trace;
}

}  // namespace muster::sim
