# Compiles the sources of a target in batches. Parsing LibTorch's headers takes longer than compiling most of our
# files, and a batch parses them once. Off in the presets for developers and sanitizers: there a change of one file
# compiles one file, and a missing include is an error.
option(SIMPLE_UNITY_BUILD "Compile sources in batches (unity builds)" OFF)

# Compiles these sources as one batch: for sources that include many more headers than the others.
function(simple_torch_batch name)
  set_property(SOURCE ${ARGN} PROPERTY UNITY_GROUP ${name})
endfunction()

# Distributes the other sources of `target` over `batches` batches in turn. Files of one folder share a namespace and
# often have local functions of the same name, so adjacent files go to different batches. CMake compiles a source with
# its own compile options alone.
function(simple_torch_unity target batches)
  if(NOT SIMPLE_UNITY_BUILD)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # GCC's garbage collector costs a tenth of the time of such a file, and saves 0.3 GB of 1.3.
  target_compile_options(${target} PRIVATE
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<COMPILE_LANGUAGE:CXX>>:--param=ggc-min-heapsize=2097152>)
  get_target_property(sources ${target} SOURCES)
  set(index 0)
  foreach(source IN LISTS sources)
    get_property(group SOURCE ${source} PROPERTY UNITY_GROUP)
    if(NOT group)
      math(EXPR batch "${index} % ${batches}")
      set_property(SOURCE ${source} PROPERTY UNITY_GROUP batch_${batch})
      math(EXPR index "${index} + 1")
    endif()
  endforeach()
endfunction()

# Lets the compiler inline functions of these sources into each other in a release build: as one batch, or by link-time
# optimization where each file is compiled alone.
function(simple_torch_optimize_together target)
  if(SIMPLE_UNITY_BUILD)
    set_property(SOURCE ${ARGN} PROPERTY UNITY_GROUP together)
  else()
    set_property(SOURCE ${ARGN} PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release>:-flto>)
    target_link_options(${target} PRIVATE $<$<CONFIG:Release>:-flto=auto>)
  endif()
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-fno-plt>)
endfunction()
