# Writes SOURCES (paths, by commas) as one source OUT. Each file keeps its lines and its place in messages; what it
# defines has a namespace of its own inside the one that it opens, so that two files may use one name for a helper.
string(REPLACE "," ";" FILES "${SOURCES}")
set(TEXT)
set(NUMBER 0)
foreach(FILE IN LISTS FILES)
  math(EXPR NUMBER "${NUMBER} + 1")
  file(READ ${FILE} PART)
  string(REGEX REPLACE "\n(namespace muster[a-z_:]*) {\n" "\n\\1 { namespace file_${NUMBER} {\n" PART "${PART}")
  string(REPLACE "\n}  // namespace muster" "\n}}  // namespace muster" PART "${PART}")
  string(APPEND TEXT "#line 1 \"${FILE}\"\n${PART}")
endforeach()
file(WRITE ${OUT} "${TEXT}")
