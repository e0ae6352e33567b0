# `cmake --install`: the host, the front, the backends and bridges that are built, the C headers, the .spl library, the
# Python packages and the examples, in one folder. The host finds all by its own path, so that the folder can be moved.
set(CMAKE_INSTALL_RPATH "$ORIGIN")

function(simple_torch_install suffixes other_pythons)
  set(libraries spl_torch simple_host_embedded)
  foreach(suffix IN LISTS suffixes)
    list(APPEND libraries simple_torch_backend-${suffix})
  endforeach()
  foreach(suffix IN LISTS suffixes other_pythons)
    list(APPEND libraries simple_torch_bridge-${suffix})
  endforeach()
  foreach(optional simple_torch_events simple_torch_curl)
    if(TARGET ${optional})
      list(APPEND libraries ${optional})
    endif()
  endforeach()
  install(TARGETS ${libraries} LIBRARY DESTINATION lib)
  install(TARGETS simple-host RUNTIME DESTINATION bin)
endfunction()

set(_ignored PATTERN "__pycache__" EXCLUDE PATTERN "*.pyc" EXCLUDE)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/abi/include/ DESTINATION include)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/simple DESTINATION share ${_ignored} PATTERN "README.md" EXCLUDE)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/python DESTINATION share ${_ignored})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/examples DESTINATION share ${_ignored} PATTERN ".ipynb_checkpoints" EXCLUDE)

# In a wheel: what Jupyter looks for below the environment's share/.
if(SKBUILD)
  set(_jupyter ${SKBUILD_DATA_DIR}/share/jupyter)
  set(_sources ${CMAKE_SOURCE_DIR}/python/simple_torch_jupyter)
  install(DIRECTORY ${_sources}/labextension/ DESTINATION ${_jupyter}/labextensions/simple-torch)
  install(FILES ${_sources}/kernel.json ${_sources}/logo-svg.svg DESTINATION ${_jupyter}/kernels/simple)
endif()
