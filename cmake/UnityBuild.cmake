# Compiles the sources of a target in batches. Parsing LibTorch's headers takes longer than compiling most of our
# files, and a batch parses them once. Off in the presets for developers and sanitizers: there a change of one file
# should compile one file, and a file must not lean on the includes of its neighbours.
option(SIMPLE_UNITY_BUILD "Compile sources in batches (unity builds)" OFF)

# Deals the sources of `target` out to `batches` batches like cards: files of one folder share a namespace and often
# have local functions of the same name, so neighbours go to different batches. Sources with compile options of their
# own are compiled alone, which CMake sees to.
function(simple_torch_unity target batches)
  if(NOT SIMPLE_UNITY_BUILD)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  set(index 0)
  foreach(source IN LISTS sources)
    math(EXPR batch "${index} % ${batches}")
    set_property(SOURCE ${source} PROPERTY UNITY_GROUP batch_${batch})
    math(EXPR index "${index} + 1")
  endforeach()
endfunction()
