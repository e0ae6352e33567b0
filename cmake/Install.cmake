# `cmake --install`: the programs, the libraries, the C and C++ headers, and the files for find_package and pkg-config.
#
# The host and the libraries find each other by their own paths, so all of them are in one folder with bin/, lib/ and
# share/, <libdir>/simple-torch. The folders of GNUInstallDirs have links to the host and the front, the headers, and
# the files for build systems. The whole can be moved. A wheel is that one folder.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_RPATH "$ORIGIN")

if(SKBUILD)
  set(_tree .)
  set(SIMPLE_TORCH_INSTALL_INCLUDEDIR include)
  set(SIMPLE_TORCH_INSTALL_LIBDIR lib)
else()
  foreach(_folder BINDIR LIBDIR INCLUDEDIR)
    if(IS_ABSOLUTE "${CMAKE_INSTALL_${_folder}}")
      message(FATAL_ERROR "CMAKE_INSTALL_${_folder} must be relative to the prefix, got ${CMAKE_INSTALL_${_folder}}")
    endif()
  endforeach()
  set(_tree ${CMAKE_INSTALL_LIBDIR}/simple-torch)
  set(SIMPLE_TORCH_INSTALL_INCLUDEDIR ${CMAKE_INSTALL_INCLUDEDIR})
  set(SIMPLE_TORCH_INSTALL_LIBDIR ${CMAKE_INSTALL_LIBDIR})
endif()

# The versions of the front's file. A wheel cannot hold links, and has one file without a version.
function(simple_torch_set_library_version target)
  if(NOT SKBUILD)
    set_target_properties(${target} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
  endif()
endfunction()

function(simple_torch_install suffixes other_pythons)
  set(libraries spl_torch simple_host_embedded)
  foreach(suffix IN LISTS suffixes)
    list(APPEND libraries simple_torch_backend-${suffix})
  endforeach()
  foreach(suffix IN LISTS suffixes other_pythons)
    list(APPEND libraries simple_torch_bridge-${suffix})
  endforeach()
  foreach(optional simple_torch_events ${SIMPLE_TORCH_BUNDLED})
    if(TARGET ${optional})
      list(APPEND libraries ${optional})
    endif()
  endforeach()
  install(TARGETS ${libraries} LIBRARY DESTINATION ${_tree}/lib)
  install(TARGETS simple-host RUNTIME DESTINATION ${_tree}/bin)
  _simple_torch_install_package_files()
  if(NOT SKBUILD)
    set(front $<TARGET_SONAME_FILE_NAME:spl_torch>)
    _simple_torch_install_link(${_tree}/bin/simple-host ${CMAKE_INSTALL_BINDIR}/simple-host)
    _simple_torch_install_link(${_tree}/lib/${front} ${CMAKE_INSTALL_LIBDIR}/${front})
    foreach(name libspl_torch.so libsimple_torch_ffi.so)
      _simple_torch_install_link(${CMAKE_INSTALL_LIBDIR}/${front} ${CMAKE_INSTALL_LIBDIR}/${name})
    endforeach()
  endif()
endfunction()

# A wheel of a tree that another build has installed. Only the libraries that a wheel alone has are built.
function(simple_torch_install_tree tree)
  add_custom_target(simple_torch_runtime DEPENDS ${SIMPLE_TORCH_BUNDLED})
  install(TARGETS ${SIMPLE_TORCH_BUNDLED} LIBRARY DESTINATION lib)
  install(PROGRAMS ${tree}/bin/simple-host DESTINATION bin)
  file(GLOB libraries ${tree}/lib/*.so)
  foreach(library IN LISTS libraries)
    get_filename_component(name ${library} NAME)
    file(REAL_PATH ${library} file)  # a link of the front: a wheel has none
    install(PROGRAMS ${file} DESTINATION lib RENAME ${name})
  endforeach()
  _simple_torch_install_package_files()
endfunction()

# Installs a relative link; both paths are below the prefix.
function(_simple_torch_install_link target link)
  get_filename_component(folder ${link} DIRECTORY)
  file(RELATIVE_PATH text /${folder} /${target})
  install(CODE "
    set(link \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${link}\")
    cmake_path(GET link PARENT_PATH folder)
    file(MAKE_DIRECTORY \"\${folder}\")
    message(STATUS \"Installing: \${link}\")
    file(CREATE_LINK \"${text}\" \"\${link}\" SYMBOLIC)")
endfunction()

# find_package(SimpleTorch) and pkg-config. Each is configured with paths below the prefix, and finds the prefix by its
# own path.
function(_simple_torch_install_package_files)
  set(destination ${SIMPLE_TORCH_INSTALL_LIBDIR}/cmake/SimpleTorch)
  set(made ${CMAKE_BINARY_DIR}/package)
  if(SKBUILD)
    set(SIMPLE_TORCH_FRONT libspl_torch.so)
  else()
    set(SIMPLE_TORCH_FRONT libspl_torch.so.${PROJECT_VERSION_MAJOR})
  endif()
  configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/SimpleTorchConfig.cmake.in ${made}/SimpleTorchConfig.cmake
    INSTALL_DESTINATION ${destination}
    PATH_VARS SIMPLE_TORCH_INSTALL_INCLUDEDIR SIMPLE_TORCH_INSTALL_LIBDIR
    NO_CHECK_REQUIRED_COMPONENTS_MACRO)
  write_basic_package_version_file(${made}/SimpleTorchConfigVersion.cmake COMPATIBILITY SameMajorVersion)
  install(FILES ${made}/SimpleTorchConfig.cmake ${made}/SimpleTorchConfigVersion.cmake DESTINATION ${destination})
  file(RELATIVE_PATH SIMPLE_TORCH_PC_PREFIX /${SIMPLE_TORCH_INSTALL_LIBDIR}/pkgconfig /)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/simple-torch.pc.in ${made}/simple-torch.pc @ONLY)
  install(FILES ${made}/simple-torch.pc DESTINATION ${SIMPLE_TORCH_INSTALL_LIBDIR}/pkgconfig)
endfunction()

set(_ignored PATTERN "__pycache__" EXCLUDE PATTERN "*.pyc" EXCLUDE)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/abi/include/ DESTINATION ${SIMPLE_TORCH_INSTALL_INCLUDEDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/simple DESTINATION ${_tree}/share ${_ignored} PATTERN "README.md" EXCLUDE)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/python DESTINATION ${_tree}/share ${_ignored})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/examples DESTINATION ${_tree}/share ${_ignored} PATTERN ".ipynb_checkpoints" EXCLUDE)
install(FILES ${CMAKE_SOURCE_DIR}/docs/troubleshooting.md DESTINATION ${_tree}/share/docs)
if(NOT SKBUILD)
  install(FILES ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR})
endif()

# In a wheel: what Jupyter looks for below the environment's share/.
if(SKBUILD)
  set(_jupyter ${SKBUILD_DATA_DIR}/share/jupyter)
  set(_sources ${CMAKE_SOURCE_DIR}/python/simple_torch_jupyter)
  install(DIRECTORY ${_sources}/labextension/ DESTINATION ${_jupyter}/labextensions/simple-torch)
  install(FILES ${_sources}/kernel.json ${_sources}/logo-svg.svg DESTINATION ${_jupyter}/kernels/simple)
endif()
