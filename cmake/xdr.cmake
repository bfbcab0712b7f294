# tartan_add_xdr(<target> FILE.x... [CLASSIC] [NAMESPACE <namespace>] [BY_REFERENCE <bytes>] [DEFINES <name>...] [INCLUDES <folder>...])
#
# Generates C++ for .x files (RFC 4506, RFC 5531) by tartan-xdr: each FILE.h is found as "FILE.h" by the target and by what links it.
# The target exists already and links tartan::tartan; tartan-xdr.1 says what the options do. With CLASSIC, FILE.C becomes a source of
# the target, which must not be an INTERFACE library. A change of a .x file, or of what it includes, generates anew.

function(tartan_add_xdr target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "CLASSIC" "NAMESPACE;BY_REFERENCE" "DEFINES;INCLUDES")
  if(NOT TARGET ${target})
    message(FATAL_ERROR "tartan_add_xdr: there is no target ${target}: it must be added before")
  elseif(NOT arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tartan_add_xdr(${target}): no .x file is named")
  endif()
  get_target_property(type ${target} TYPE)
  set(visibility PUBLIC)
  if(type STREQUAL "INTERFACE_LIBRARY")
    if(arg_CLASSIC)
      message(FATAL_ERROR "tartan_add_xdr(${target} CLASSIC): an INTERFACE library compiles nothing, and FILE.C has to be compiled")
    endif()
    set(visibility INTERFACE)
  endif()

  set(options)
  if(DEFINED arg_NAMESPACE OR "NAMESPACE" IN_LIST arg_KEYWORDS_MISSING_VALUES)
    list(APPEND options "--namespace=${arg_NAMESPACE}")
  endif()
  if(DEFINED arg_BY_REFERENCE)
    list(APPEND options --by-reference ${arg_BY_REFERENCE})
  endif()
  foreach(define IN LISTS arg_DEFINES)
    list(APPEND options -D "${define}")
  endforeach()
  foreach(folder IN LISTS arg_INCLUDES)
    get_filename_component(folder "${folder}" ABSOLUTE)
    list(APPEND options -I "${folder}")
  endforeach()

  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${target}_xdr")
  file(MAKE_DIRECTORY "${folder}")
  set(headers)
  foreach(file IN LISTS arg_UNPARSED_ARGUMENTS)
    get_filename_component(source "${file}" ABSOLUTE)
    get_filename_component(name "${file}" NAME_WLE)
    set(output "${folder}/${name}")
    if(arg_CLASSIC)
      add_custom_command(OUTPUT "${output}.h" "${output}.C"
        COMMAND tartan::tartan-xdr --classic -o "${output}.h" --depfile "${output}.d" ${options} "${source}"
        DEPENDS "${source}" tartan::tartan-xdr DEPFILE "${output}.d" VERBATIM
        COMMENT "Generating ${name}.h and ${name}.C")
      target_sources(${target} PRIVATE "${output}.C")
    else()
      add_custom_command(OUTPUT "${output}.h"
        COMMAND tartan::tartan-xdr -o "${output}.h" --depfile "${output}.d" ${options} "${source}"
        DEPENDS "${source}" tartan::tartan-xdr DEPFILE "${output}.d" VERBATIM
        COMMENT "Generating ${name}.h")
    endif()
    list(APPEND headers "${output}.h")
  endforeach()

  if(visibility STREQUAL "PUBLIC")
    target_sources(${target} PRIVATE ${headers})
  else()
    set(number 0)
    while(TARGET ${target}_xdr_${number})
      math(EXPR number "${number} + 1")
    endwhile()
    add_custom_target(${target}_xdr_${number} DEPENDS ${headers})
    add_dependencies(${target} ${target}_xdr_${number})
  endif()
  target_include_directories(${target} ${visibility} "$<BUILD_INTERFACE:${folder}>")
endfunction()
