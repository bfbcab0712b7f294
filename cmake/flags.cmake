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
