// The Standard Workload Format, compressed or not, whole or broken.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <fstream>

#include "absl/strings/str_cat.h"
#include "scheduler/simulator/id_set.h"
#include "scheduler/simulator/readers/swf.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::sim {
namespace {

using ::testing::HasSubstr;

std::string Record(int id, const std::string& submit, const std::string& run) {
  return absl::StrCat(id, " ", submit, " -1 ", run, " 4 186.92 -1 8 3600 -1 1 17 3 -1 2 1 -1 -1\n");
}

class Swf : public ::testing::Test {
 protected:
  std::string Write(const std::string& text) {
    const std::string path = directory_ / "log.swf";
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
    return path;
  }

  // Reads to the end; `count` records, or the error.
  absl::Status Read(const std::string& text, bool lenient = false) {
    records_.clear();
    absl::StatusOr<std::unique_ptr<SwfReader>> reader = SwfReader::Open(Write(text), lenient);
    if (!reader.ok()) {
      return reader.status();
    }
    TraceRecord record;
    for (;;) {
      const absl::StatusOr<bool> more = (*reader)->Next(&record);
      if (!more.ok()) {
        return more.status();
      }
      if (!*more) {
        break;
      }
      records_.push_back(record);
    }
    header_ = (*reader)->header();
    skipped_ = (*reader)->skipped();
    return absl::OkStatus();
  }

  std::string ErrorOf(const std::string& text) {
    const absl::Status status = Read(text);
    EXPECT_FALSE(status.ok()) << text.substr(0, 200);
    const std::string message(status.message());
    EXPECT_EQ(message.find('\n'), std::string::npos);
    return message;
  }

  TempDirectory directory_;
  std::vector<TraceRecord> records_;
  TraceHeader header_;
  SkippedRecords skipped_;
};

TEST_F(Swf, GivesTheFieldsOfARecord) {
  ASSERT_TRUE(
      Read("; MaxProcs: 128 (64 until May)\n;\n\n; MaxNodes: -1\r\n" + Record(7, "12", "345"))
          .ok());
  ASSERT_EQ(records_.size(), 1U);
  EXPECT_EQ(records_[0].line, 5U);
  EXPECT_EQ(records_[0].job_id, 7);
  EXPECT_EQ(records_[0].submit, 12);
  EXPECT_EQ(records_[0].run_time, 345);
  EXPECT_EQ(records_[0].allocated, 4);
  EXPECT_EQ(records_[0].requested, 8);
  EXPECT_EQ(records_[0].requested_time, 3600);
  EXPECT_EQ(records_[0].user, 17);
  EXPECT_EQ(header_.max_procs, 128);
  EXPECT_EQ(header_.max_nodes, std::nullopt);
}

TEST_F(Swf, NamesTheLineOfWhatItRefuses) {
  const std::string fine = Record(1, "0", "5");
  EXPECT_THAT(ErrorOf(fine + Record(2, "1", "nan")),
              HasSubstr("log.swf:2: field 4 (run time) is \"nan\": write a whole number"));
  EXPECT_THAT(ErrorOf(fine + Record(2, "-5", "5")),
              HasSubstr(":2: field 2 (submit time) is \"-5\""));
  EXPECT_THAT(ErrorOf(fine + "\n" + fine), HasSubstr(":3: job id 1 was there before"));
  EXPECT_THAT(ErrorOf(fine + "2 3 4"), HasSubstr(":2: the record has 3 of 18 fields"));
  EXPECT_THAT(ErrorOf(fine + "2 " + fine), HasSubstr(":2: the record has more than 18 fields"));
  EXPECT_THAT(ErrorOf(Record(2, "99999999999999999999", "5")), HasSubstr(":1: field 2"));
  EXPECT_THAT(ErrorOf("; MaxProcs: 1e30\n"), HasSubstr(":1: the header says MaxProcs: \"1e30\""));
  EXPECT_THAT(ErrorOf(Record(2, "1.5", "5")), HasSubstr("is \"1.5\""));
}

TEST_F(Swf, LenientLeavesOutAndCountsWhatStrictRefuses) {
  ASSERT_TRUE(Read(Record(1, "0", "5") + Record(2, "1", "nan") + "3 3\n" + Record(1, "4", "5") +
                       Record(5, "9", "5"),
                   true)
                  .ok());
  EXPECT_EQ(records_.size(), 2U);
  EXPECT_EQ(skipped_.lines, 2U);
  EXPECT_EQ(skipped_.duplicates, 1U);
  EXPECT_THAT(skipped_.first, HasSubstr("log.swf:2: field 4"));
}

TEST_F(Swf, ALineOfTenMillionCharactersIsOneBrokenRecord) {
  const std::string endless(10'000'000, '1');
  EXPECT_THAT(ErrorOf(Record(1, "0", "5") + endless + "\n" + Record(2, "0", "5")),
              HasSubstr("log.swf:2: the line is longer than 65536 characters"));
  ASSERT_TRUE(Read(";" + endless + "\n" + Record(1, "0", "5") + endless + "\n" +
                       Record(2, "0", "5") + endless,
                   true)
                  .ok());
  ASSERT_EQ(records_.size(), 2U);
  EXPECT_EQ(records_[1].line, 4U);
  EXPECT_EQ(skipped_.lines, 2U);
}

TEST_F(Swf, ReadsLinesThatStraddleItsBuffers) {
  std::string text;
  for (int id = 1; id <= 20'000; ++id) {
    text += Record(id, std::to_string(id), std::string(static_cast<std::size_t>(id % 9) + 1, '1'));
  }
  text.pop_back();
  ASSERT_TRUE(Read(text).ok());
  ASSERT_EQ(records_.size(), 20'000U);
  EXPECT_EQ(records_.back().submit, 20'000);
}

std::string Gzip(const std::string& text) {
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string Zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

std::string Xz(const std::string& text) {
  std::string out(lzma_stream_buffer_bound(text.size()), '\0');
  std::size_t size = 0;
  EXPECT_EQ(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, nullptr,
                                    reinterpret_cast<const std::uint8_t*>(text.data()), text.size(),
                                    reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size()),
            LZMA_OK);
  out.resize(size);
  return out;
}

TEST_F(Swf, ReadsWhatIsCompressedAndNoticesWhatIsCutOff) {
  std::string text;
  for (int id = 1; id <= 5'000; ++id) {
    text += Record(id, std::to_string(id * 7), std::to_string(id * 31 % 1000));
  }
  const std::string half = text.substr(0, text.size() / 2);
  for (std::string (*compress)(const std::string&) : {Gzip, Zstd, Xz}) {
    const std::string packed = compress(text);
    ASSERT_TRUE(Read(packed).ok());
    EXPECT_EQ(records_.size(), 5'000U);
    ASSERT_TRUE(Read(compress(half) + compress(text.substr(half.size()))).ok());
    EXPECT_EQ(records_.size(), 5'000U) << "of two pieces";
    const std::string cut = packed.substr(0, packed.size() * 2 / 3);
    EXPECT_THAT(ErrorOf(cut), HasSubstr("ends in the middle"));
    ASSERT_TRUE(Read(cut, true).ok());
    EXPECT_TRUE(skipped_.truncated);
    EXPECT_LT(records_.size(), 5'000U);
    std::string broken = packed;
    broken[broken.size() / 2] = static_cast<char>(broken[broken.size() / 2] ^ 0x55);
    EXPECT_FALSE(Read(broken).ok());
  }
}

TEST_F(Swf, WhatIsNoFileIsRefusedInOneLine) {
  EXPECT_THAT(std::string(SwfReader::Open(directory_ / "none", false).status().message()),
              HasSubstr("none: No such file or directory"));
  EXPECT_THAT(std::string(SwfReader::Open(directory_.path(), false).status().message()),
              HasSubstr("Is a directory"));
}

TEST(IdSet, KnowsEveryIdInAnyOrder) {
  IdSet ids;
  for (const std::int64_t id : {5, 6, 7, 1, 2, 9, 8, 3, 100, 4}) {
    EXPECT_TRUE(ids.Insert(id)) << id;
  }
  for (const std::int64_t id : {1, 2, 3, 4, 5, 6, 7, 8, 9, 100}) {
    EXPECT_FALSE(ids.Insert(id)) << id;
  }
  EXPECT_TRUE(ids.Insert(10));
  EXPECT_TRUE(ids.Insert(99));
}

}  // namespace
}  // namespace muster::sim
