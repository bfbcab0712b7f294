# What every target of ours compiles with. GoogleTest and other people's code do not get these.
set(tartan_warnings -Wall -Wextra -Wconversion -Wshadow)
if(TARTAN_WERROR)
  list(APPEND tartan_warnings -Werror)
endif()

function(tartan_flags target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_options(${target} PRIVATE ${tartan_warnings})
endfunction()

# A third of the time to compile a file of ours is the standard library's headers. For presets only: what is built without it shows
# which file lacks an include.
set(tartan_standard_headers algorithm array atomic charconv chrono condition_variable coroutine cstdint cstring exception functional
                            limits map memory mutex new optional set source_location span stdexcept string string_view system_error
                            thread tuple type_traits unordered_map utility variant vector)
list(TRANSFORM tartan_standard_headers REPLACE "(.+)" "<\\1>")

# tartan_precompile(<target> [<header>...]): those, behind the standard library's.
function(tartan_precompile target)
  if(TARTAN_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${tartan_standard_headers} ${ARGN})
  endif()
endfunction()
