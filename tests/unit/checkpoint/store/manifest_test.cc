#include "checkpoint/store/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "checkpoint/disk/names.h"

namespace muster::checkpoint {
namespace {

Manifest Sample() {
  Manifest manifest;
  manifest.job = "cluster.12_3";
  manifest.attempt = 2;
  manifest.generation = 42;
  manifest.written_ms = 1773480413000;
  manifest.repartitionable = true;
  manifest.topology = "nodes=2 ranks/node=1";
  manifest.software = "heat2d 0.1";
  manifest.shards = {{0, 112, 0x0123456789abcdef}, {1, 7, 0}};
  return manifest;
}

// The text with its last line made right again.
std::string Sealed(std::string text) {
  text.resize(text.rfind("end "));
  const Manifest empty;
  std::string hex(16, '0');
  std::uint64_t sum = ChecksumOf(text);
  for (std::size_t i = 16; i-- > 0; sum >>= 4) {
    hex[i] = "0123456789abcdef"[sum & 15];
  }
  return text + "end " + hex + "\n";
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return Sealed(text.replace(at, from.size(), to));
}

TEST(Manifest, ReadsLikeItsGrammar) {
  EXPECT_EQ(PrintManifest(Sample()),
            Sealed("muster-checkpoint 1\njob cluster.12_3\nattempt 2\ngeneration 42\n"
                   "written_ms 1773480413000\nranks 2\nrepartitionable 1\n"
                   "topology nodes=2 ranks/node=1\nsoftware heat2d 0.1\nhardware \n"
                   "shard 0 112 0123456789abcdef\nshard 1 7 0000000000000000\nend x"));
  const Result<Manifest> read = ParseManifest(PrintManifest(Sample()));
  ASSERT_TRUE(read.ok()) << read.error.text;
  EXPECT_EQ(read.value, Sample());
}

TEST(Manifest, AnErrorOfAFlushMakesItVersionTwo) {
  Manifest manifest = Sample();
  manifest.flush_error = "flush of generation 41: write: No space left on device";
  const std::string text = PrintManifest(manifest);
  EXPECT_EQ(text.substr(0, 20), "muster-checkpoint 2\n");
  EXPECT_NE(text.find("\nhardware \nflush_error flush of generation 41: write: No space"),
            std::string::npos);
  EXPECT_EQ(ParseManifest(text).value, manifest);
  EXPECT_FALSE(ParseManifest(Replaced(text, "checkpoint 2", "checkpoint 1")).ok());
}

TEST(Manifest, WhatMakesNoSenseIsRefusedThoughItsChecksumIsRight) {
  const std::string text = PrintManifest(Sample());
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"muster-checkpoint 1", "muster-checkpoint 2"},
           {"job cluster.12_3", "job ../../etc"},
           {"job cluster.12_3", "job .."},
           {"job cluster.12_3", "job "},
           {"job cluster.12_3", "job a/b"},
           {"job cluster.12_3", "job a\\b%s"},
           {"job cluster.12_3", "job \xff"},
           {"attempt 2", "attempt 4294967296"},
           {"attempt 2", "attempt -1"},
           {"attempt 2", "attempt 02"},
           {"attempt 2", "attempt 2 "},
           {"generation 42", "generation 10000000000"},
           {"ranks 2", "ranks 0"},
           {"ranks 2", "ranks 1"},
           {"ranks 2", "ranks 3"},
           {"ranks 2", "ranks 4000000000"},
           {"repartitionable 1", "repartitionable 2"},
           {"software heat2d 0.1", std::string("software a\0b", 12)},
           {"software heat2d 0.1", "software \x1b[2J"},
           {"software heat2d 0.1", "software " + std::string(256, 'x')},
           {"shard 0 112", "shard 1 112"},
           {"shard 0 112", "shard 0 18446744073709551616"},
           {"shard 0 112", "shard 0 -112"},
           {"0123456789abcdef", "0123456789ABCDEF"},
           {"0123456789abcdef", "123456789abcdef"},
           {"shard 1 7", "shard 1 7 7"},
           {"hardware \n", ""}}) {
    const Result<Manifest> read = ParseManifest(Replaced(text, from, to));
    EXPECT_EQ(read.error.fault, Fault::kCorrupt) << from << " -> " << to;
  }
}

TEST(Manifest, TheFirstThingThatIsWrongIsToldWithItsLine) {
  const std::string text = PrintManifest(Sample());
  EXPECT_EQ(ParseManifest("").error.text, "manifest:0: ends early");
  EXPECT_EQ(ParseManifest(Replaced(text, "job cluster", "jab cluster")).error.text,
            "manifest:2: is not \"job …\"");
  EXPECT_EQ(ParseManifest(text + "x").error.text, "manifest:13: goes on after its end");
}

TEST(ManifestProperty, IsReadBackAsItWasWritten) {
  EXPECT_TRUE(rc::check([] {
    Manifest manifest;
    manifest.job = *rc::gen::suchThat(
        rc::gen::resize(
            64, rc::gen::container<std::string>(rc::gen::elementOf(std::string("abcXYZ019._-")))),
        [](const std::string& name) { return IsName(name); });
    manifest.attempt = *rc::gen::arbitrary<std::uint32_t>();
    manifest.generation = *rc::gen::inRange<std::uint64_t>(0, kGenerationMax);
    manifest.written_ms = *rc::gen::inRange<std::uint64_t>(0, std::uint64_t{1} << 62);
    manifest.repartitionable = *rc::gen::arbitrary<bool>();
    manifest.software = *rc::gen::container<std::string>(rc::gen::inRange<char>(' ', '~'));
    const auto ranks = *rc::gen::inRange<std::uint32_t>(1, 50);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      manifest.shards.push_back(
          {rank, *rc::gen::arbitrary<std::uint64_t>(), *rc::gen::arbitrary<std::uint64_t>()});
    }
    const std::string text = PrintManifest(manifest);
    const Result<Manifest> read = ParseManifest(text);
    RC_ASSERT(read.ok());
    RC_ASSERT(read.value == manifest);
    // Any one byte changed is found.
    std::string other = text;
    const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
    other[at] = static_cast<char>(other[at] ^ *rc::gen::inRange(1, 256));
    RC_ASSERT(!ParseManifest(other).ok());
  }));
}

TEST(Names, OnlyWhatIsExactlyANameIsOne) {
  EXPECT_EQ(ToText({12, GenerationState::kPartial}), "gen-0000000012.tmp");
  for (const GenerationState state : {GenerationState::kComplete, GenerationState::kPartial,
                                      GenerationState::kSetAside, GenerationState::kDoomed}) {
    const GenerationName name{987654321, state};
    EXPECT_EQ(ParseGenerationName(ToText(name)), name);
  }
  for (const char* text : {"", "gen-", "gen-000000001", "gen-00000000001", "gen-000000000x",
                           "gen-0000000001.", "gen-0000000001.TMP", "Gen-0000000001"}) {
    EXPECT_FALSE(ParseGenerationName(text).has_value()) << text;
  }
  EXPECT_EQ(ToText(ArrivalName{12, 0xabc}), "gen-0000000012.from-0000000000000abc");
  EXPECT_EQ(ParseArrivalName("gen-0000000012.from-0000000000000abc"), (ArrivalName{12, 0xabc}));
  EXPECT_EQ(ToText(FlushName{12, true}), "flushing-0000000012");
  for (const FlushName& name : {FlushName{7, false}, FlushName{7, true}}) {
    EXPECT_EQ(ParseFlushName(ToText(name)), name);
  }
  for (const char* text :
       {"", "flush-", "flush-1", "flush-00000000001", "flush.lock", "flush-error",
        "gen-0000000012.from-0000000000000ABC", "gen-0000000012.from-", "gen-0000000012"}) {
    EXPECT_FALSE(ParseFlushName(text).has_value()) << text;
    EXPECT_FALSE(ParseArrivalName(text).has_value()) << text;
  }
  EXPECT_EQ(ShardName(7), "shard-000007");
  for (const std::string& text :
       {std::string("a"), std::string("A.b_c-9"), std::string(64, 'x'), std::string("...")}) {
    EXPECT_TRUE(IsName(text)) << text;
  }
  for (const std::string& text :
       {std::string(), std::string("."), std::string(".."), std::string("a/b"), std::string("/a"),
        std::string("../a"), std::string("a\0b", 3), std::string("a\nb"), std::string("%s"),
        std::string("a b"), std::string(65, 'x'), std::string(256, 'x'), std::string("\xff\xfe"),
        std::string("é")}) {
    EXPECT_FALSE(IsName(text)) << text;
  }
}

}  // namespace
}  // namespace muster::checkpoint
