"""Sources that are compiled as one: each keeps its own names."""

import os
import subprocess
import sys
import tempfile
import unittest

TOOL = os.environ["JOIN_SOURCES"]


class JoinSourcesTest(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.root = os.path.join(place.name, "tree")
        os.mkdir(self.root)

    def write(self, name, text):
        path = os.path.join(self.root, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def join(self, *paths):
        out = os.path.join(self.root, "joined.cc")
        subprocess.run([sys.executable, "-B", TOOL, self.root, out, *paths], check=True)
        return out

    def result(self, *paths):
        """What a program of the joined files answers; the joined files compile."""
        program = os.path.join(self.root, "program")
        subprocess.run([os.environ.get("CXX", "c++"), "-std=c++20", "-Wall", "-Wextra", "-Werror", "-I", self.root,
                        self.join(*paths), "-o", program], check=True)
        return subprocess.run([program], check=False).returncode

    def source(self, name, body, includes=("names.h",)):
        lines = "".join(f'#include "{header}"\n' for header in includes)
        return self.write(name, f"{lines}namespace muster {{\n{body}\n}}  // namespace muster\n")

    def main(self, answer):
        return self.write("main.cc", f'#include "names.h"\nint main() {{ return muster::{answer}; }}\n')

    def test_two_files_may_use_one_name_for_a_helper_a_constant_and_a_type(self):
        self.write("names.h", "#pragma once\nnamespace muster { int First(); int Second(); }\n")
        body = ("namespace {{\nconstexpr int kAmount = {0};\nstruct Pair {{ int x = {0}; }};\n"
                "template <class T>\nT Twice(T value) {{ return value * {0}; }}\n}}  // namespace\n"
                "int {1}() {{ return Twice(kAmount) + Pair().x; }}")
        first = self.source("first.cc", body.format(1, "First"))
        second = self.source("second.cc", body.format(3, "Second"))
        main = self.main("First() * 100 + muster::Second()")
        self.assertEqual(self.result(first, second, main), 2 * 100 + 12)

    def test_a_helper_does_not_take_calls_of_another_file(self):
        self.write("names.h", "#pragma once\nnamespace muster { int Text(long value); int First(); int Second(); }\n")
        self.write("far.h", "#pragma once\nnamespace muster { inline int Length(double) { return 7; } }\n")
        first = self.source("first.cc", "namespace {\nint Length(int) { return 1; }\n}  // namespace\n"
                            "int First() { return Length(0); }")
        second = self.source("second.cc", "int Second() { return Length(0); }", ("names.h", "far.h"))
        main = self.main("First() * 10 + muster::Second()")
        self.assertEqual(self.result(first, second, main), 17)

    def test_an_overload_of_what_a_header_declares_stays_one(self):
        self.write("names.h", "#pragma once\nnamespace muster { int Text(double value); int First(); }\n")
        first = self.source("first.cc", "int Text(double) { return 20; }\nnamespace {\nint Text(int) { return 1; }\n"
                            "}  // namespace\nint First() { return Text(1) + Text(1.0); }")
        main = self.main("First()")
        self.assertEqual(self.result(first, main), 21)

    def test_words_in_comments_and_literals_are_no_declarations(self):
        self.write("names.h", "#pragma once\nnamespace muster { int First(); int Second(); }\n")
        body = ("namespace {{\n// int Other() {{\nconst char kSign = '{{';\n"
                "const char* const kSaid = R\"(int Other() {{)\";\n"
                "}}  // namespace\nint {0}() {{ return kSign == kSaid[12] ? {1} : 0; }}")
        first = self.source("first.cc", body.format("First", 4))
        second = self.source("second.cc", body.format("Second", 5))
        main = self.main("First() * 10 + muster::Second()")
        self.assertEqual(self.result(first, second, main), 45)
        with open(os.path.join(self.root, "joined.cc"), encoding="utf-8") as file:
            self.assertNotIn("Other", file.read())

    def test_a_macro_ends_with_its_file_and_what_was_read_is_told(self):
        names = self.write("names.h", '#pragma once\n#include "far.h"\n')
        far = self.write("far.h", "#pragma once\n")
        first = self.source("first.cc", "#define STEP(x) x\n")
        joined = self.join(first)
        with open(joined, encoding="utf-8") as file:
            self.assertEqual(file.read().splitlines()[-2:], [f'#include "{first}"', "#undef STEP"])
        with open(joined + ".d", encoding="utf-8") as file:
            self.assertEqual(sorted(file.read().replace("\\", "").split()[1:]), sorted([first, names, far]))


if __name__ == "__main__":
    unittest.main()
