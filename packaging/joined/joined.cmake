# Sources that are compiled as one: where headers take half of a compilation, that halves it.

# muster_join(PART NEEDS FILES...): the library PART is made of FILES, by groups of at most MUSTER_UNITY_BYTES. NEEDS is
# what they link.
function(muster_join PART NEEDS)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(GROUP)
  set(BYTES 0)
  set(NUMBER 0)
  foreach(FILE ${ARGN} "")
    set(SIZE 0)
    if(FILE)
      file(SIZE ${FILE} SIZE)
    endif()
    math(EXPR BYTES "${BYTES} + ${SIZE}")
    if(GROUP AND (NOT FILE OR BYTES GREATER MUSTER_UNITY_BYTES))
      muster_joined_group(${PART} ${NEEDS} ${NUMBER} ${GROUP})
      math(EXPR NUMBER "${NUMBER} + 1")
      set(GROUP)
      set(BYTES ${SIZE})
    endif()
    list(APPEND GROUP ${FILE})
  endforeach()
endfunction()

function(muster_joined_group PART NEEDS NUMBER)
  set(JOINED ${CMAKE_BINARY_DIR}/joined/${PART}_${NUMBER}.cc)
  set(TOOL ${CMAKE_SOURCE_DIR}/packaging/joined/join_sources.py)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/joined)
  add_custom_command(OUTPUT ${JOINED}
    COMMAND ${Python3_EXECUTABLE} -B ${TOOL} ${CMAKE_SOURCE_DIR} ${JOINED} ${ARGN}
    DEPENDS ${ARGN} ${TOOL}
    DEPFILE ${JOINED}.d
    COMMENT "Joining ${PART}_${NUMBER}.cc"
    VERBATIM)
  add_library(${PART}_${NUMBER} OBJECT ${JOINED})
  target_link_libraries(${PART}_${NUMBER} PRIVATE ${NEEDS})
  muster_in_sections(${PART}_${NUMBER})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # A helper of one file may be called like a variable of another; what is compiled alone is checked for that.
    target_compile_options(${PART}_${NUMBER} PRIVATE -Wno-shadow -Wshadow=local)
  endif()
  target_sources(${PART} PRIVATE $<TARGET_OBJECTS:${PART}_${NUMBER}>)
endfunction()
