# In a wheel: libsimple_torch_<name>.so for each library of the system that programs open at its first use. It has no
# code and depends on that library, so that `auditwheel repair` adds the library to the wheel. It is opened where the
# system has none (host/builtins/system_library.cpp, core_libtorch/downloads/curl_library.cpp). zlib is part of every
# system on which a wheel runs, by the rules of manylinux.
set(SIMPLE_TORCH_BUNDLED)
if(SKBUILD)
  foreach(_pair curl:curl pcre2:pcre2-8 crypto:crypto sqlite3:sqlite3)
    string(REPLACE ":" ";" _pair ${_pair})
    list(GET _pair 0 _name)
    list(GET _pair 1 _file)
    find_library(SIMPLE_TORCH_LIBRARY_${_name} ${_file} REQUIRED)
    add_library(simple_torch_${_name} SHARED ${CMAKE_CURRENT_LIST_DIR}/bundled_library.c)
    target_link_libraries(simple_torch_${_name} PRIVATE ${SIMPLE_TORCH_LIBRARY_${_name}})
    target_link_options(simple_torch_${_name} PRIVATE LINKER:--no-as-needed)
    list(APPEND SIMPLE_TORCH_BUNDLED simple_torch_${_name})
  endforeach()
endif()
