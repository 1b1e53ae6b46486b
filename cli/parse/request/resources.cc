#include "cli/parse/request/resources.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "cli/parse/number.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/size_text.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

constexpr std::size_t kTypeBytesMax = 64;

}  // namespace

absl::StatusOr<Bytes> ParseMemory(std::string_view text) {
  const std::optional<std::uint64_t> size =
      ParseSize(text, PlainSize::kMebibytes, kMemoryMax.value());
  if (!size.has_value() || *size == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        Quote(text), " is not a size: use a positive whole number with K, M, G or T, like 4G"));
  }
  return Bytes(*size);
}

absl::StatusOr<NodeRange> ParseNodeRange(std::string_view text) {
  const std::size_t dash = text.find('-');
  const absl::StatusOr<std::uint32_t> min = ParseCount(text.substr(0, dash));
  const absl::StatusOr<std::uint32_t> max =
      dash == std::string_view::npos ? min : ParseCount(text.substr(dash + 1));
  if (!min.ok() || !max.ok() || *max < *min) {
    return absl::InvalidArgumentError(absl::StrCat(
        Quote(text), " is not a number of nodes: use MIN or MIN-MAX from 1 to ", kCountMax));
  }
  return NodeRange{.min = *min, .max = *max};
}

absl::StatusOr<GpuRequest> ParseGpus(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const bool typed = colon != std::string_view::npos;
  const absl::StatusOr<std::uint32_t> count = ParseCount(typed ? text.substr(colon + 1) : text);
  if (!count.ok() || (typed && !IsPlainName(text.substr(0, colon), kTypeBytesMax))) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(text), " is not a number of GPUs: use COUNT or TYPE:COUNT from 1 to ",
                     kCountMax, ", like h100:2"));
  }
  return GpuRequest{.type = typed ? std::string(text.substr(0, colon)) : "", .count = *count};
}

absl::StatusOr<GpuShare> ParseGpuShare(std::string_view text) {
  const bool percent = !text.empty() && text.back() == '%';
  const std::string digits(percent ? text.substr(0, text.size() - 1) : text);
  const std::size_t point = digits.find('.');
  const std::string whole = digits.substr(0, point);
  std::string part = point == std::string::npos ? "" : digits.substr(point + 1);
  const std::size_t places = percent ? 1 : 3;
  const bool plain = digits.find_first_not_of("0123456789.") == std::string::npos &&
                     part.find('.') == std::string::npos && !whole.empty() && whole.size() <= 3 &&
                     part.size() <= places && digits.back() != '.';
  if (plain) {
    part.resize(places, '0');
    std::uint32_t thousandths = 0;
    for (const char digit : whole + part) {
      thousandths = thousandths * 10 + static_cast<std::uint32_t>(digit - '0');
    }
    if (thousandths > 0 && thousandths <= kWholeGpu.value()) {
      return GpuShare(thousandths);
    }
  }
  return absl::InvalidArgumentError(absl::StrCat(
      Quote(std::string(text)),
      " is not a part of a GPU: use 0.001 to 1, like 0.25, a percentage, like 25%, or its "
      "memory, like 20G"));
}

absl::StatusOr<GresCount> ParseHugePages(std::string_view text) {
  constexpr std::uint64_t kUsualPage = std::uint64_t{2} << 20;
  constexpr std::uint64_t kPagesMost = UINT32_MAX;
  const std::size_t colon = text.find(':');
  const auto bytes = [](std::string_view words) {
    return ParseSize(words, PlainSize::kMebibytes, UINT64_MAX >> 1U).value_or(0);
  };
  const std::uint64_t size = bytes(text.substr(0, colon));
  const std::uint64_t page =
      colon == std::string_view::npos ? kUsualPage : bytes(text.substr(colon + 1));
  if (size == 0 || page == 0 || (page & (page - 1)) != 0 || (size - 1) / page >= kPagesMost) {
    return BadText(text, "says no huge pages: write SIZE or SIZE:PAGE, as 4G or 16G:1G");
  }
  return GresCount{HugePagesName(page), (size - 1) / page + 1};
}

absl::StatusOr<GpuRequest> ParseGres(std::string_view text) {
  constexpr std::string_view kGpu = "gpu";
  const bool gpu = text.substr(0, kGpu.size()) == kGpu &&
                   (text.size() == kGpu.size() || text[kGpu.size()] == ':');
  if (gpu && text.find(',') == std::string_view::npos) {
    const std::string_view rest =
        text.size() == kGpu.size() ? std::string_view("1") : text.substr(kGpu.size() + 1);
    absl::StatusOr<GpuRequest> counted = ParseGpus(rest);
    if (counted.ok()) {
      return counted;
    }
    if (IsPlainName(rest, kTypeBytesMax) &&
        rest.find_first_not_of("0123456789") != std::string_view::npos) {
      return GpuRequest{.type = std::string(rest), .count = 1};
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat(Quote(std::string(text)), " is not gpu[:TYPE][:COUNT], like gpu:h100:2"));
}

}  // namespace muster::cli
