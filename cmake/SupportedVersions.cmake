# The supported minor versions of torch and of Python, oldest first, from requirements/versions.json:
# SIMPLE_TORCH_SUPPORTED_TORCH and SIMPLE_TORCH_SUPPORTED_PYTHON.
set(_versions_file ${CMAKE_CURRENT_LIST_DIR}/../requirements/versions.json)
file(READ ${_versions_file} _versions)

set(SIMPLE_TORCH_SUPPORTED_TORCH "")
string(JSON _last LENGTH "${_versions}" torch)
math(EXPR _last "${_last} - 1")
foreach(_index RANGE ${_last})
  string(JSON _version MEMBER "${_versions}" torch ${_index})
  list(APPEND SIMPLE_TORCH_SUPPORTED_TORCH ${_version})
endforeach()

set(SIMPLE_TORCH_SUPPORTED_PYTHON "")
string(JSON _last LENGTH "${_versions}" python)
math(EXPR _last "${_last} - 1")
foreach(_index RANGE ${_last})
  string(JSON _version GET "${_versions}" python ${_index})
  list(APPEND SIMPLE_TORCH_SUPPORTED_PYTHON ${_version})
endforeach()

list(SORT SIMPLE_TORCH_SUPPORTED_TORCH COMPARE NATURAL)
list(SORT SIMPLE_TORCH_SUPPORTED_PYTHON COMPARE NATURAL)
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${_versions_file})
endif()
