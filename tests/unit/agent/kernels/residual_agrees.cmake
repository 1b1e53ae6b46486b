# cmake -D KERNEL=... -D MPIEXEC=... -D RANKS_FLAG=-n -D RANKS=3 -P residual_agrees.cmake
# The residual line of RANKS ranks must be that of the program without a launcher, character for character, and
# both must pass the comparison with the serial field. The plate divides evenly by none of the rank counts.
set(arguments --nx 61 --ny 47 --steps 40 --seed 7 --repeat 1 --warmup 0 --verify)

function(residual_of result ranks)
  execute_process(COMMAND ${ARGN} TIMEOUT 20 RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT code STREQUAL "0")
    message(FATAL_ERROR "${ARGN}: exit ${code}\n${out}${err}")
  endif()
  if(NOT out MATCHES "heat2d: ${ranks} ranks as" OR NOT out MATCHES "verify: passed")
    message(FATAL_ERROR "${ARGN}: not verified on ${ranks} ranks\n${out}")
  endif()
  if(NOT out MATCHES "residual ([0-9][^\n]*)\n")
    message(FATAL_ERROR "${ARGN}: no residual\n${out}")
  endif()
  set(${result} "${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()

residual_of(alone 1 ${KERNEL} ${arguments})
residual_of(together ${RANKS} ${MPIEXEC} ${RANKS_FLAG} ${RANKS} ${KERNEL} ${arguments})
if(NOT alone STREQUAL together)
  message(FATAL_ERROR "residual ${together} on ${RANKS} ranks, ${alone} alone")
endif()
message(STATUS "residual ${alone} on 1 and on ${RANKS} ranks")
