#!/usr/bin/env python3
"""join_sources.py ROOT OUT FILE...: writes one C++ source that includes others, so that their headers are read once.

Each file keeps its own names. What it declares in an anonymous namespace gets a name of its own, by a macro around the
file alone, where another file or a header of the project says the same word. All headers come first, so that no such
macro changes one. A name that the file also uses of something else (x.Name, a::Name) is left alone; where that clashes,
the compiler says so, and one of the two is to be renamed.

OUT.d says what OUT was made of. ROOT is the folder that #include "a/b.h" starts from.
"""

import collections
import os
import re
import sys

LITERAL = re.compile(
    r'R"(\w*)\((?:.|\n)*?\)\1"|//[^\n]*|/\*(?:.|\n)*?\*/|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'')
DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)
INCLUDE = re.compile(r'^#include ([<"].*[>"])', re.MULTILINE)
DEFINE = re.compile(r"^#define (\w+)", re.MULTILINE)
WORD = re.compile(r"[A-Za-z_]\w*")
MEMBER = re.compile(r"(?:\.|->|::)\s*(?:template\s+)?([A-Za-z_]\w*)")
TYPE = re.compile(
    r"(?:struct|class|enum class|enum|union)\s+(?:\[\[\w+\]\]\s*)?([A-Za-z_]\w*)\s*(?:final\s*)?(?::.*)?$")
ALIAS = re.compile(r"using\s+([A-Za-z_]\w*)\s*=")
NO_NAMES = {"const", "constexpr", "decltype", "for", "if", "operator", "requires", "return", "switch", "while"}


def bare(text):
    """The text without comments, literals and preprocessor lines."""
    return DIRECTIVE.sub("", LITERAL.sub(lambda found: " " if found.group(0)[0] == "/" else "0", text))


def behind_brackets(text):
    """What follows the <...> that the text begins with."""
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter == "<") - (letter == ">")
        if depth == 0:
            return text[at + 1:].lstrip()
    return ""


def declared(statement):
    """The name that a declaration at the level of a namespace gives, or None."""
    while statement.startswith("template"):
        statement = behind_brackets(statement[len("template"):].lstrip())
    kind = TYPE.match(statement) or ALIAS.match(statement)
    if kind:
        return kind.group(1)
    if statement.startswith(("using ", "static_assert", "friend ", "namespace ", "extern ", "requires")):
        return None
    depth = 0
    for at, letter in enumerate(statement):
        if letter == "<" and re.search(r"\w\s*$", statement[:at]):
            depth += 1
        elif letter == ">" and depth:
            depth -= 1
        elif depth == 0 and letter in "(=[{":
            statement = statement[:at]
            break
    name = re.search(r"(?<![:\w])([A-Za-z_]\w*)\s*$", statement)
    return None if name is None or name.group(1) in NO_NAMES else name.group(1)


def hidden_names(text):
    """What a bare text declares right inside its anonymous namespaces, and nowhere else."""
    names, others, open_blocks, begin = set(), set(), [], 0
    for found in re.finditer(r"[{};]", text):
        statement = text[begin:found.start()].strip()
        begin = found.end()
        if found.group(0) == "}":
            if open_blocks:
                open_blocks.pop()
            continue
        if open_blocks and open_blocks[-1] != "body" and statement:
            (names if open_blocks[-1] == "hidden" else others).add(declared(statement))
        if found.group(0) == "{":
            if re.fullmatch(r"(?:inline\s+)?namespace", statement):
                open_blocks.append("hidden")
            else:
                open_blocks.append("named" if statement.startswith(("namespace ", "inline namespace ")) else "body")
    return names - others - {None}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def words_of(text):
    return set(WORD.findall(bare(text)))


class Headers:
    """The project's headers, each read once; `words`: those that each says."""

    def __init__(self, root):
        self.root = root
        self.words = {}
        self._included = {}

    def of(self, text):
        """The paths of those that a text includes, at any depth."""
        found, left = set(), self._named_in(text)
        while left:
            path = left.pop()
            if path not in found:
                found.add(path)
                left += self._included_by(path)
        return found

    def _named_in(self, text):
        paths = [os.path.join(self.root, name[1:-1]) for name in INCLUDE.findall(text) if name[0] == '"']
        return [path for path in paths if os.path.exists(path)]

    def _included_by(self, path):
        if path not in self._included:
            text = read(path)
            self.words[path] = words_of(text)
            self._included[path] = self._named_in(text)
        return self._included[path]


def join(texts, headers):
    """The source that includes the files of `texts` (path: text)."""
    hidden = {path: hidden_names(bare(text)) for path, text in texts.items()}
    near = {path: headers.of(text) for path, text in texts.items()}
    times_hidden = collections.Counter(name for names in hidden.values() for name in names)
    times_said = collections.Counter(word for text in texts.values() for word in words_of(text))
    times_said.update(word for words in headers.words.values() for word in words)
    included = dict.fromkeys(name for text in texts.values() for name in INCLUDE.findall(text))
    lines = [f"#include {name}" for name in sorted(included, key=lambda name: name[0] == '"')]
    for number, (path, text) in enumerate(texts.items(), 1):
        seen = set().union(*(headers.words[header] for header in near[path]))
        # What the file sees when it is compiled alone is no clash: an overload of it, say.
        own = sorted(name for name in hidden[path] - set(MEMBER.findall(bare(text)))
                     if times_hidden[name] > 1 or (name not in seen and times_said[name] > 1))
        lines += [f"#define {name} {name}_of_file_{number}" for name in own]
        lines.append(f'#include "{path}"')
        lines += [f"#undef {name}" for name in own + DEFINE.findall(text)]
    return "\n".join(lines) + "\n"


def main(root, out, *files):
    headers = Headers(root)
    joined = join({path: read(path) for path in files}, headers)
    with open(out, "w", encoding="utf-8") as file:
        file.write(joined)
    with open(out + ".d", "w", encoding="utf-8") as file:
        file.write(out + ": " + " \\\n ".join([*files, *sorted(headers.words)]) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
