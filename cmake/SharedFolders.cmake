# The run-time files of the programs: links to the .spl library and the Python helpers, and the path of the project's
# Python, the first of SIMPLE_TORCH_PYTHONS.
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/share ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
foreach(folder simple python)
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/${folder} ${CMAKE_BINARY_DIR}/share/${folder} SYMBOLIC)
endforeach()

if(SIMPLE_TORCH_PYTHONS)
  list(GET SIMPLE_TORCH_PYTHONS 0 _first_python)
  file(WRITE ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/simple-torch-environment "${_first_python}\n")
else()
  file(REMOVE ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/simple-torch-environment)
endif()
