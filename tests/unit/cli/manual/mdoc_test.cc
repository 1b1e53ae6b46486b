#include "cli/manual/mdoc.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

TEST(Mdoc, EachSentenceBeginsALine) {
  EXPECT_EQ(MdocText({"One job. Two jobs, e.g. arrays", "and steps (all of them). Why? So."}),
            "One job.\nTwo jobs, e.g. arrays and steps (all of them).\nWhy?\nSo.\n");
}

TEST(Mdoc, MarksStandOnLinesOfTheirOwnWithThePunctuationAfterThem) {
  EXPECT_EQ(MdocText({"With --nodes and -n, *CMD* runs on `a b` (see muster-run(1)): **all**."}),
            "With\n.Fl -nodes\nand\n.Fl n ,\n.Ar CMD\nruns on\n.Ql \"a b\"\n(see\n"
            ".Xr muster-run 1 ) :\n.Cm all .\n");
  EXPECT_EQ(MdocText({"$HOME, </etc/x>"}), ".Ev HOME ,\n.Pa /etc/x\n");
}

TEST(Mdoc, WhatBelongsTogetherInAWordStaysTogether) {
  EXPECT_EQ(MdocText({"--nodes=*MIN*-*MAX*, *CMD*'s"}),
            ".Fl -nodes Ns = Ns Ar MIN Ns - Ns Ar MAX ,\n.Ar CMD Ns 's\n");
  EXPECT_EQ(MdocText({"(--time) **map_cpu:***LIST*."}),
            ".No \\&( Ns Fl -time )\n.Cm map_cpu:\\& Ns Ar LIST .\n");
}

TEST(Mdoc, NothingElseIsTakenForAMark) {
  EXPECT_EQ(MdocText({"a*2 and 3 * 4, with -1, well-known, 63(11), $5 and x < y > z"}),
            "a*2 and 3 * 4, with -1, well-known, 63(11), $5 and x < y > z\n");
  EXPECT_EQ(MdocText({"`.x` and a\\b"}), ".Ql .x\nand a\\eb\n");
  EXPECT_EQ(MdocText({"`At` `.` `%N`"}), ".Ql \\&At\n.Ql \\&.\n.Ql \\&%N\n");
}

TEST(Mdoc, NoLineOfTextIsAMacro) {
  EXPECT_EQ(MdocText({"a `b` .Sh and 'c'"}), "a\n.Ql b\n\\&.Sh and 'c'\n");
}

TEST(Mdoc, ALongLineIsBroken) {
  const std::string text = MdocText({std::string(60, 'a') + " " + std::string(30, 'b')});
  EXPECT_EQ(text, std::string(60, 'a') + "\n" + std::string(30, 'b') + "\n");
}

TEST(Mdoc, BlankLinesPartParagraphsButNotListsAndLiterals) {
  EXPECT_EQ(MdocText({"One.", "", "Two:", "", ": $A, $B", "First.", ": swf", "Second.", "",
                      "Three.", "    a  b", "    .c", "", "Four."}),
            "One.\n.Pp\nTwo:\n.Bl -tag -width Ds\n.It Ev A , Ev B\nFirst.\n.It swf\nSecond.\n.El\n"
            ".Pp\nThree.\n.Bd -literal -offset indent\na  b\n\\&.c\n.Ed\n.Pp\nFour.\n");
}

TEST(Mdoc, LinesOfMdocPassAsTheyAre) {
  EXPECT_EQ(MdocText({"See", ".Lk https://a b", "there."}), "See\n.Lk https://a b\nthere.\n");
}

TEST(Mdoc, HelpHasNoMarksButOptionsVariablesAndPages) {
  EXPECT_EQ(MdocSentence("a*2, `b` (default: $HOME)"), "a*2, `b` (default:\n.Ev HOME ) .\n");
  EXPECT_EQ(MdocSentence("As --mem says"), "As\n.Fl -mem\nsays.\n");
}

TEST(Mdoc, CapitalsOfASynopsisAreReplacedAndOtherWordsTyped) {
  EXPECT_EQ(MdocSynopsis("MIN[-MAX]"), "Ar MIN Ns Oo No - Ns Ar MAX Oc");
  EXPECT_EQ(MdocSynopsis("[TYPE:]N"), "Oo Ar TYPE Ns No \\&: Oc Ns Ar N");
  EXPECT_EQ(MdocSynopsis("TIME|auto"), "Ar TIME | Cm auto");
  EXPECT_EQ(MdocSynopsis("[options] CMD [ARG…]"), "Oo Ar options Oc Ar CMD Oo Ar ARG ... Oc");
  EXPECT_EQ(MdocSynopsis("list|verify DIR --cost D"), "Cm list | Cm verify Ar DIR Fl -cost Ar D");
  EXPECT_EQ(MdocSynopsis("[options] -"), "Oo Ar options Oc No -");
}

}  // namespace
}  // namespace muster::cli
