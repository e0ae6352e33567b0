# GoogleTest programs.
enable_testing()
find_package(GTest REQUIRED)
include(GoogleTest)

# Makes `target` a GoogleTest program; ctest runs each of its cases in a separate process.
# The time limit stops tests that hang. It is long enough for the long tests on a busy machine.
function(simple_torch_gtest target)
  target_link_libraries(${target} PRIVATE GTest::gmock_main simple_torch::warnings)
  gtest_discover_tests(${target} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 900)
endfunction()
