# GoogleTest for the rooms' tests.
enable_testing()
find_package(GTest REQUIRED)
include(GoogleTest)

# Makes `target` a GoogleTest program; ctest then runs each of its cases as a process of its own.
# The time limit stops what hangs; it is wide enough for the long tests where compilers take the machine.
function(simple_torch_gtest target)
  target_link_libraries(${target} PRIVATE GTest::gmock_main simple_torch::warnings)
  gtest_discover_tests(${target} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 900)
endfunction()
