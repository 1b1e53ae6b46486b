#include "cli/parse/request/notice_words.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

TEST(NoticeWordsTest, KindsAreSlurmsInAnyCase) {
  const NewsKinds kinds = ParseMailTypes("end, Fail,TIME_LIMIT_80,array_tasks").value();
  EXPECT_TRUE(kinds.Has(News::kEnd));
  EXPECT_TRUE(kinds.Has(News::kFail));
  EXPECT_TRUE(kinds.Has(News::kTimeLimit80));
  EXPECT_FALSE(kinds.Has(News::kBegin));
  EXPECT_TRUE(kinds.of_each_element);
  EXPECT_TRUE(ParseMailTypes("ALL").value().Has(News::kBegin));
  EXPECT_FALSE(ParseMailTypes("ALL").value().Has(News::kTimeLimit)) << "as in Slurm";
  EXPECT_EQ(ParseMailTypes("END,NONE").value().bits, 0U);
  EXPECT_TRUE(ParseMailTypes("STAGE_OUT").ok());
  EXPECT_FALSE(ParseMailTypes("END,SOON").ok());
}

TEST(NoticeWordsTest, AnAddressIsOneWordAndNoOption) {
  EXPECT_TRUE(CheckMailUser("ada").ok());
  EXPECT_TRUE(CheckMailUser("ada.l+x@example.org").ok());
  for (const char* bad : {"", "-Xlog", "a b", "a\nBcc: b", "<a@b>", "a,b", "a@b;c"}) {
    EXPECT_FALSE(CheckMailUser(bad).ok()) << bad;
  }
}

TEST(NoticeWordsTest, AWebhookIsHttp) {
  EXPECT_TRUE(CheckNotify("mail").ok());
  EXPECT_TRUE(CheckNotify("https://hooks.example.org/a?b=c").ok());
  for (const char* bad :
       {"", "desk", "file:///etc/passwd", "gopher://x", "https://a b", "ftp://x"}) {
    EXPECT_FALSE(CheckNotify(bad).ok()) << bad;
  }
}

TEST(NoticeWordsTest, TheDesktopIsToldByTheSubmitterAndByNobodyElse) {
  EXPECT_TRUE(CheckNotify("desktop").ok());
  const Notices asked = ReadNotices({"notify=desktop"}, "ada");
  EXPECT_EQ(asked.url, "");
  EXPECT_EQ(asked.mail_to, "");
  EXPECT_FALSE(IsWebhook("desktop"));
  EXPECT_FALSE(WantsDesktop({}));
  EXPECT_TRUE(WantsDesktop({"mail-type=END", "notify=desktop"}));
  EXPECT_FALSE(IsWebhook("mail"));
}

TEST(NoticeWordsTest, WhatAJobAsksForIsReadFromItsWords) {
  const Notices mail = ReadNotices({"mail-type=BEGIN", "mail-user=ada@example.org"}, "ada");
  EXPECT_EQ(mail.mail_to, "ada@example.org");
  EXPECT_TRUE(mail.kinds.Has(News::kBegin));
  EXPECT_FALSE(mail.kinds.Has(News::kEnd));
  const Notices hook = ReadNotices({"notify=https://x/"}, "ada");
  EXPECT_EQ(hook.mail_to, "");
  EXPECT_EQ(hook.url, "https://x/");
  EXPECT_TRUE(hook.kinds.Has(News::kFail));
  EXPECT_EQ(ReadNotices({"notify=mail"}, "ada").mail_to, "ada");
  EXPECT_EQ(ReadNotices({"mail-user=ada"}, "ada").kinds.bits, 0U) << "no kind was asked for";
  EXPECT_EQ(ReadNotices({"mail-type=NONE", "mail-user=x"}, "ada").mail_to, "");
}

}  // namespace
}  // namespace muster::cli
