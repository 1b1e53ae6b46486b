#include "scheduler/simulator/readers/byte_source.h"

#include <lzma.h>
#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster::sim {
namespace {

constexpr std::size_t kInputBytes = std::size_t{1} << 16;
constexpr std::uint64_t kXzMemoryMax = std::uint64_t{256} << 20;
constexpr int kZstdWindowLogMax = 27;

absl::Status FileError(const std::string& path, int error, const char* mend) {
  char text[128] = {};
  return absl::NotFoundError(
      absl::StrCat(path, ": ", strerror_r(error, text, sizeof(text)), ": ", mend));
}

absl::Status Truncated(const std::string& path) {
  return absl::DataLossError(
      absl::StrCat(path, ": the compressed data ends in the middle: fetch the file again"));
}

absl::Status Broken(const std::string& path, const char* what) {
  return absl::DataLossError(
      absl::StrCat(path, ": the compressed data is broken (", what, "): fetch the file again"));
}

// The file as it is, and a buffer of it.
class PlainFile final : public ByteSource {
 public:
  struct Closer {
    void operator()(std::FILE* file) const { (void)std::fclose(file); }
  };
  using Handle = std::unique_ptr<std::FILE, Closer>;

  PlainFile(std::string path, Handle file, std::uint64_t size)
      : path_(std::move(path)), file_(std::move(file)), size_(size) {}

  absl::StatusOr<std::size_t> Read(char* out, std::size_t size) override {
    const std::size_t peeked = std::min(size, peeked_.size());
    if (peeked != 0) {
      std::memcpy(out, peeked_.data(), peeked);
      peeked_.erase(0, peeked);
      return peeked;
    }
    const std::size_t got = std::fread(out, 1, size, file_.get());
    if (got == 0 && std::ferror(file_.get()) != 0) {
      return FileError(path_, errno, "name a file that can be read");
    }
    consumed_ += got;
    return got;
  }

  // The first bytes, which Read gives again.
  absl::StatusOr<std::string> Peek(std::size_t size) {
    std::string bytes(size, '\0');
    ASSIGN_OR_RETURN(const std::size_t got, Read(bytes.data(), size));
    bytes.resize(got);
    peeked_ = bytes;
    return bytes;
  }

  [[nodiscard]] std::uint64_t consumed() const override { return consumed_; }
  [[nodiscard]] std::uint64_t file_size() const override { return size_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  Handle file_;
  std::uint64_t size_;
  std::uint64_t consumed_ = 0;
  std::string peeked_;
};

// What the three decompressors share: input by the buffer, and where it ends.
class Decompressor : public ByteSource {
 public:
  explicit Decompressor(std::unique_ptr<PlainFile> file)
      : file_(std::move(file)), input_(kInputBytes) {}
  [[nodiscard]] std::uint64_t consumed() const override { return file_->consumed(); }
  [[nodiscard]] std::uint64_t file_size() const override { return file_->file_size(); }

 protected:
  // Fills the input buffer; false at the end of the file.
  absl::StatusOr<bool> Refill() {
    ASSIGN_OR_RETURN(available_, file_->Read(input_.data(), input_.size()));
    return available_ != 0;
  }
  [[nodiscard]] const std::string& path() const { return file_->path(); }
  [[nodiscard]] char* input() { return input_.data(); }
  [[nodiscard]] std::size_t available() const { return available_; }

 private:
  std::unique_ptr<PlainFile> file_;
  std::vector<char> input_;
  std::size_t available_ = 0;
};

class GzipSource final : public Decompressor {
 public:
  explicit GzipSource(std::unique_ptr<PlainFile> file) : Decompressor(std::move(file)) {
    (void)inflateInit2(&stream_, 15 + 16);
  }
  ~GzipSource() override { (void)inflateEnd(&stream_); }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  absl::StatusOr<std::size_t> Read(char* out, std::size_t size) override {
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = static_cast<uInt>(size);
    while (stream_.avail_out == size) {
      if (stream_.avail_in == 0) {
        ASSIGN_OR_RETURN(const bool more, Refill());
        if (!more) {
          return between_ ? absl::StatusOr<std::size_t>(0) : Truncated(path());
        }
        stream_.next_in = reinterpret_cast<Bytef*>(input());
        stream_.avail_in = static_cast<uInt>(available());
      }
      if (between_) {
        (void)inflateReset(&stream_);  // A further member of the same file.
        between_ = false;
      }
      const int result = inflate(&stream_, Z_NO_FLUSH);
      between_ = result == Z_STREAM_END;
      if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
        return Broken(path(), "gzip");
      }
    }
    return size - stream_.avail_out;
  }

 private:
  z_stream stream_ = {};
  bool between_ = false;  // a member has ended and none has begun
};

class ZstdSource final : public Decompressor {
 public:
  explicit ZstdSource(std::unique_ptr<PlainFile> file)
      : Decompressor(std::move(file)), stream_(ZSTD_createDStream()) {
    (void)ZSTD_DCtx_setParameter(stream_.get(), ZSTD_d_windowLogMax, kZstdWindowLogMax);
  }

  absl::StatusOr<std::size_t> Read(char* out, std::size_t size) override {
    ZSTD_outBuffer output{out, size, 0};
    while (output.pos == 0) {
      if (in_.pos == in_.size) {
        ASSIGN_OR_RETURN(const bool more, Refill());
        if (!more) {
          return between_ ? absl::StatusOr<std::size_t>(0) : Truncated(path());
        }
        in_ = {input(), available(), 0};
      }
      const std::size_t left = ZSTD_decompressStream(stream_.get(), &output, &in_);
      if (ZSTD_isError(left) != 0) {
        return Broken(path(), ZSTD_getErrorName(left));
      }
      between_ = left == 0;
    }
    return output.pos;
  }

 private:
  struct Freer {
    void operator()(ZSTD_DStream* stream) const { (void)ZSTD_freeDStream(stream); }
  };
  std::unique_ptr<ZSTD_DStream, Freer> stream_;
  ZSTD_inBuffer in_ = {nullptr, 0, 0};
  bool between_ = false;
};

class XzSource final : public Decompressor {
 public:
  explicit XzSource(std::unique_ptr<PlainFile> file) : Decompressor(std::move(file)) {
    ready_ = lzma_stream_decoder(&stream_, kXzMemoryMax, LZMA_CONCATENATED) == LZMA_OK;
  }
  ~XzSource() override { lzma_end(&stream_); }
  XzSource(const XzSource&) = delete;
  XzSource& operator=(const XzSource&) = delete;

  absl::StatusOr<std::size_t> Read(char* out, std::size_t size) override {
    if (!ready_) {
      return absl::ResourceExhaustedError(path() + ": no memory to decompress xz: make room");
    }
    stream_.next_out = reinterpret_cast<std::uint8_t*>(out);
    stream_.avail_out = size;
    while (stream_.avail_out == size && !ended_) {
      if (stream_.avail_in == 0 && !no_more_) {
        ASSIGN_OR_RETURN(const bool more, Refill());
        no_more_ = !more;
        stream_.next_in = reinterpret_cast<std::uint8_t*>(input());
        stream_.avail_in = available();
      }
      const lzma_ret result = lzma_code(&stream_, no_more_ ? LZMA_FINISH : LZMA_RUN);
      if (result == LZMA_STREAM_END) {
        ended_ = true;
      } else if (result == LZMA_BUF_ERROR && no_more_) {
        return Truncated(path());
      } else if (result == LZMA_MEMLIMIT_ERROR) {
        return Broken(path(), "it needs more than 256 MiB to decompress");
      } else if (result != LZMA_OK && result != LZMA_BUF_ERROR) {
        return Broken(path(), "xz");
      }
    }
    return size - stream_.avail_out;
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool ready_ = false;
  bool no_more_ = false;
  bool ended_ = false;
};

bool StartsWith(const std::string& bytes, std::string_view magic) {
  return std::string_view(bytes).substr(0, magic.size()) == magic;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ByteSource>> ByteSource::Open(const std::string& path) {
  PlainFile::Handle handle(std::fopen(path.c_str(), "rbe"));
  if (handle == nullptr) {
    return FileError(path, errno, "name a file that can be read");
  }
  struct stat facts = {};
  const bool known = fstat(fileno(handle.get()), &facts) == 0;
  if (known && S_ISDIR(facts.st_mode)) {
    return FileError(path, EISDIR, "name a file");
  }
  auto file = std::make_unique<PlainFile>(
      path, std::move(handle),
      known && S_ISREG(facts.st_mode) ? static_cast<std::uint64_t>(facts.st_size) : 0);
  ASSIGN_OR_RETURN(const std::string magic, file->Peek(6));
  std::unique_ptr<ByteSource> source;
  if (StartsWith(magic, "\x1f\x8b")) {
    source = std::make_unique<GzipSource>(std::move(file));
  } else if (StartsWith(magic, "\x28\xb5\x2f\xfd")) {
    source = std::make_unique<ZstdSource>(std::move(file));
  } else if (StartsWith(magic, std::string_view("\xfd"
                                                "7zXZ\0",
                                                6))) {
    source = std::make_unique<XzSource>(std::move(file));
  } else {
    source = std::move(file);
  }
  return source;
}

}  // namespace muster::sim
