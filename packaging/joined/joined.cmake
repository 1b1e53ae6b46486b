# Sources that are compiled as one: where headers take half of a compilation, that halves it.

# muster_join(PART): the library PART gets its MUSTER_FILES, by groups of at most MUSTER_UNITY_BYTES.
function(muster_join PART)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  get_target_property(FILES ${PART} MUSTER_FILES)
  set(GROUP)
  set(BYTES 0)
  set(NUMBER 0)
  foreach(FILE ${FILES} "")
    set(SIZE 0)
    if(FILE)
      file(SIZE ${FILE} SIZE)
    endif()
    math(EXPR BYTES "${BYTES} + ${SIZE}")
    if(GROUP AND (NOT FILE OR BYTES GREATER MUSTER_UNITY_BYTES))
      muster_joined_group(${PART} ${NUMBER} ${GROUP})
      math(EXPR NUMBER "${NUMBER} + 1")
      set(GROUP)
      set(BYTES ${SIZE})
    endif()
    list(APPEND GROUP ${FILE})
  endforeach()
endfunction()

function(muster_joined_group PART NUMBER)
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
  target_link_libraries(${PART}_${NUMBER} PRIVATE ${PART}_needs)
  muster_in_sections(${PART}_${NUMBER})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # A helper of one file may be called like a variable of another; what is compiled alone is checked for that.
    target_compile_options(${PART}_${NUMBER} PRIVATE -Wno-shadow -Wshadow=local)
  endif()
  target_sources(${PART} PRIVATE $<TARGET_OBJECTS:${PART}_${NUMBER}>)
endfunction()
