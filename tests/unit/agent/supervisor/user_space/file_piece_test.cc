#include "agent/supervisor/user_space/file_piece.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using ::testing::HasSubstr;

class FilePieceTest : public ::testing::Test {
 protected:
  void Put(const std::string& text, std::ios::openmode mode = std::ios::trunc) const {
    std::ofstream(path_, std::ios::binary | mode) << text;
  }
  static absl::StatusOr<FilePiece> Read(const PieceWanted& wanted) {
    const absl::StatusOr<Brought> brought = BringPiece(wanted);
    return brought.ok() ? TakePiece(*brought) : absl::StatusOr<FilePiece>(brought.status());
  }
  std::string Tail(std::uint32_t lines) const {
    const absl::StatusOr<FilePiece> piece = Read({.path = path_, .tail = lines});
    return piece.ok() ? piece->data : std::string(piece.status().message());
  }

  const TempDirectory directory_;
  const std::string path_ = directory_ / "out";
};

TEST_F(FilePieceTest, APieceBeginsWhereTheLastOneEnded) {
  Put("first\n");
  const absl::StatusOr<FilePiece> first = Read({.path = path_});
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->data, "first\n");
  EXPECT_EQ(first->size, 6U);
  EXPECT_GT(first->modified, 0);
  Put("second\n", std::ios::app);
  const absl::StatusOr<FilePiece> second = Read({.path = path_, .offset = 6, .file = first->file});
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(second->data, "second\n");
  EXPECT_EQ(second->offset, 6U);
  EXPECT_FALSE(second->anew);
}

TEST_F(FilePieceTest, AFileThatWasCutOrReplacedBeginsAnew) {
  Put("a long first line\n");
  const std::string file = Read({.path = path_})->file;
  Put("new\n");
  absl::StatusOr<FilePiece> piece = Read({.path = path_, .offset = 18, .file = file});
  ASSERT_TRUE(piece.ok()) << piece.status();
  EXPECT_TRUE(piece->anew) << "it was cut";
  EXPECT_EQ(piece->data, "new\n");
  std::filesystem::rename(path_, path_ + ".1");
  Put("a longer line after the rotation\n");
  piece = Read({.path = path_, .offset = 4, .file = file});
  ASSERT_TRUE(piece.ok()) << piece.status();
  EXPECT_TRUE(piece->anew) << "another file is there";
  EXPECT_EQ(piece->offset, 0U);
  EXPECT_EQ(piece->data, "a longer line after the rotation\n");
}

TEST_F(FilePieceTest, TheLastLinesAreWholeOnesWithOrWithoutAnEndOfLine) {
  Put("one\ntwo\nthree\n");
  EXPECT_EQ(Tail(1), "three\n");
  EXPECT_EQ(Tail(2), "two\nthree\n");
  EXPECT_EQ(Tail(3), "one\ntwo\nthree\n");
  EXPECT_EQ(Tail(99), "one\ntwo\nthree\n");
  Put("one\ntwo");
  EXPECT_EQ(Tail(1), "two");
  Put("\n\n\n");
  EXPECT_EQ(Tail(2), "\n\n");
  Put("");
  EXPECT_EQ(Tail(5), "");
}

TEST_F(FilePieceTest, LinesThatCrossBlocksAreFound) {
  const std::string huge(150'000, 'x');
  Put(absl::StrCat("before\n", huge, "\nlast\n"));
  const absl::StatusOr<FilePiece> piece = Read({.path = path_, .tail = 2});
  ASSERT_TRUE(piece.ok()) << piece.status();
  EXPECT_EQ(piece->offset, 7U);
  EXPECT_EQ(piece->data, huge + "\nlast\n");
}

TEST_F(FilePieceTest, ALineWithoutEndBeginsAtACharacterWhereCountingStops) {
  // "ä" has two bytes: an odd byte in front makes the last 64 MiB begin within one.
  Put("x");
  ASSERT_EQ(truncate(path_.c_str(), 1), 0);
  const UniqueFd fd(open(path_.c_str(), O_RDWR | O_CLOEXEC));
  const std::uint64_t size = kTailBytesMax + 2;
  ASSERT_EQ(ftruncate(fd.get(), static_cast<off_t>(size)), 0);
  ASSERT_EQ(pwrite(fd.get(), "\xC3\xA4", 2, 1), 2);
  const absl::StatusOr<std::uint64_t> start = TailStart(fd.get(), size, 1);
  ASSERT_TRUE(start.ok()) << start.status();
  EXPECT_EQ(*start, 3U) << "behind the character that is cut";
}

TEST_F(FilePieceTest, APieceIsBoundedWhateverIsAsked) {
  Put(std::string(kPieceBytesMax + 10, 'y'));
  EXPECT_EQ(Read({.path = path_})->data.size(), kPieceBytesMax);
  EXPECT_EQ(Read({.path = path_, .limit = 1U << 31})->data.size(), kPieceBytesMax);
  EXPECT_EQ(Read({.path = path_, .limit = 3})->data, "yyy");
  const absl::StatusOr<FilePiece> behind = Read({.path = path_, .offset = UINT64_MAX});
  ASSERT_TRUE(behind.ok()) << behind.status();
  EXPECT_EQ(behind->offset, kPieceBytesMax + 10);
  EXPECT_EQ(behind->data, "");
}

TEST_F(FilePieceTest, WhatIsNoOrdinaryFileIsRefusedWithoutWaiting) {
  EXPECT_THAT(std::string(Read({.path = path_}).status().message()),
              HasSubstr("out: is not there: it was removed"));
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THAT(std::string(Read({.path = path_}).status().message()),
              HasSubstr("is no ordinary file"));
  EXPECT_THAT(std::string(Read({.path = directory_.path()}).status().message()),
              HasSubstr("is no ordinary file"));
}

TEST_F(FilePieceTest, BytesOfAnyNumberComeThroughAFileInMemory) {
  const std::string bytes(100'000, 'z');
  const absl::StatusOr<Brought> brought = BringBytes(bytes);
  ASSERT_TRUE(brought.ok()) << brought.status();
  EXPECT_EQ(*TakeBytes(*brought, bytes.size()), bytes);
  EXPECT_FALSE(TakeBytes(Brought{}, 1).ok());
  EXPECT_FALSE(TakePiece(*brought).ok()) << "no word of where it is from";
}

}  // namespace
}  // namespace muster::agent
