#include "checkpoint/store/manifest.h"

#include <charconv>
#include <optional>

#include "checkpoint/disk/checksum.h"
#include "checkpoint/disk/names.h"

namespace muster::checkpoint {
namespace {

constexpr std::string_view kTitle = "muster-checkpoint ";

std::optional<std::uint64_t> ParseNumber(std::string_view text, std::uint64_t most) {
  std::uint64_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || stop != text.data() + text.size() || number > most ||
      (text.size() > 1 && text.front() == '0')) {
    return std::nullopt;
  }
  return number;
}

// Takes a manifest apart line by line; the first thing that is wrong ends it.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  const std::string& fault() const { return fault_; }

  // The rest of the next line, which begins with `key` and a blank.
  std::string_view Field(std::string_view key) {
    const std::size_t end = text_.find('\n');
    if (!fault_.empty() || end == std::string_view::npos) {
      Fail("ends early");
      return {};
    }
    ++line_;
    std::string_view line = text_.substr(0, end);
    text_.remove_prefix(end + 1);
    if (line.substr(0, key.size()) != key || line.size() <= key.size() || line[key.size()] != ' ') {
      Fail("is not \"" + std::string(key) + " …\"");
      return {};
    }
    line.remove_prefix(key.size() + 1);
    return line;
  }

  std::uint64_t Number(std::string_view key, std::uint64_t most) {
    return Checked(ParseNumber(Field(key), most));
  }
  std::string Name(std::string_view key) {
    const std::string_view name = Field(key);
    if (!IsName(name)) {
      Fail("holds no name");
    }
    return std::string(name);
  }
  std::string Remark(std::string_view key) {
    const std::string_view remark = Field(key);
    if (!IsRemark(remark)) {
      Fail("holds no plain text");
    }
    return std::string(remark);
  }
  ShardSeal Shard() {
    std::string_view rest = Field("shard");
    ShardSeal seal;
    seal.rank = static_cast<std::uint32_t>(Checked(ParseNumber(Word(&rest), kRanksMax - 1)));
    seal.bytes = Checked(ParseNumber(Word(&rest), ~std::uint64_t{0}));
    seal.checksum = Checked(ParseHex(rest));
    return seal;
  }
  void Expect(bool holds, const char* otherwise) {
    if (!holds) {
      Fail(otherwise);
    }
  }
  bool AtEnd() const { return text_.empty(); }
  std::size_t Left() const { return text_.size(); }
  bool failed() const { return !fault_.empty(); }

 private:
  static std::string_view Word(std::string_view* rest) {
    const std::size_t blank = rest->find(' ');
    const std::string_view word = rest->substr(0, blank);
    rest->remove_prefix(blank == std::string_view::npos ? rest->size() : blank + 1);
    return word;
  }
  std::uint64_t Checked(std::optional<std::uint64_t> number) {
    if (!number) {
      Fail("holds no such number");
    }
    return number.value_or(0);
  }
  void Fail(const std::string& what) {
    if (fault_.empty()) {
      fault_ = "manifest:" + std::to_string(line_) + ": " + what;
    }
  }

  std::string_view text_;
  std::size_t line_ = 0;
  std::string fault_;
};

}  // namespace

std::uint64_t ChecksumOf(std::string_view text) {
  Checksum checksum;
  checksum.Add(text.data(), text.size());
  return checksum.value();
}

std::string PrintManifest(const Manifest& manifest) {
  std::string text = std::string(kTitle) + (manifest.flush_error.empty() ? "1\n" : "2\n");
  const auto line = [&text](const char* key, const std::string& value) {
    text += std::string(key) + " " + value + "\n";
  };
  line("job", manifest.job);
  line("attempt", std::to_string(manifest.attempt));
  line("generation", std::to_string(manifest.generation));
  line("written_ms", std::to_string(manifest.written_ms));
  line("ranks", std::to_string(manifest.shards.size()));
  line("repartitionable", manifest.repartitionable ? "1" : "0");
  line("topology", manifest.topology);
  line("software", manifest.software);
  line("hardware", manifest.hardware);
  if (!manifest.flush_error.empty()) {
    line("flush_error", manifest.flush_error);
  }
  for (const ShardSeal& seal : manifest.shards) {
    line("shard", std::to_string(seal.rank) + " " + std::to_string(seal.bytes) + " " +
                      HexText(seal.checksum));
  }
  line("end", HexText(ChecksumOf(text)));
  return text;
}

Result<Manifest> ParseManifest(std::string_view text) {
  Reader reader(text);
  reader.Expect(text.size() <= kManifestBytesMax, "is too large");
  const std::string_view version = reader.Field("muster-checkpoint");
  reader.Expect(version == "1" || version == "2", "is of another version");
  Manifest manifest;
  manifest.job = reader.Name("job");
  manifest.attempt = static_cast<std::uint32_t>(reader.Number("attempt", ~std::uint32_t{0}));
  manifest.generation = reader.Number("generation", kGenerationMax);
  manifest.written_ms = reader.Number("written_ms", ~std::uint64_t{0} >> 1);
  const std::uint64_t ranks = reader.Number("ranks", kRanksMax);
  reader.Expect(ranks > 0, "says that there are no ranks");
  manifest.repartitionable = reader.Number("repartitionable", 1) == 1;
  manifest.topology = reader.Remark("topology");
  manifest.software = reader.Remark("software");
  manifest.hardware = reader.Remark("hardware");
  if (version == "2") {
    manifest.flush_error = reader.Remark("flush_error");
    reader.Expect(!manifest.flush_error.empty(), "holds no plain text");
  }
  for (std::uint64_t rank = 0; rank < ranks && !reader.failed(); ++rank) {
    manifest.shards.push_back(reader.Shard());
    reader.Expect(manifest.shards.back().rank == rank, "is out of order");
  }
  const std::uint64_t sealed = ChecksumOf(text.substr(0, text.size() - reader.Left()));
  reader.Expect(ParseHex(reader.Field("end")) == sealed, "does not match its checksum");
  reader.Expect(reader.AtEnd(), "goes on after its end");
  if (reader.failed()) {
    return {{}, MakeError(Fault::kCorrupt, reader.fault())};
  }
  return {std::move(manifest), {}};
}

}  // namespace muster::checkpoint
