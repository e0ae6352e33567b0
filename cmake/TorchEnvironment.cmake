# Finds the torch of each Python environment and defines imported targets for it.
#
# For an environment with torch 2.15 (suffix `2.15`):
#   torch_env_2.15    LibTorch: headers, libtorch, libtorch_cpu, libc10
#   python_env_2.15   CPython's headers only; none of our targets links libpython
#   TORCH_ENV_2.15_PYTHON, _DIR (the torch package), _VERSION (2.15.0), _TORCH_MINOR (2.15), _PY_MINOR (3.11)
#
# A second environment with the same torch and another Python, such as 3.12, has the suffix `2.15-py3.12` and needs only a
# bridge.
#
# find_package(Torch) is not used: it requires the CUDA toolkit, which the wheel does not.

set(_simple_torch_query [[
import importlib.util, os, runpy, sys, sysconfig
spec = importlib.util.find_spec("torch")
if spec is None or spec.origin is None:
    sys.exit("no torch")
folder = os.path.dirname(spec.origin)
version = runpy.run_path(os.path.join(folder, "version.py"))["__version__"].split("+")[0]
print(folder, version, "%d.%d" % sys.version_info[:2], sysconfig.get_path("include"), sep=";")
]])

# Sets in the caller: TORCH_ENV_<suffix>_* for each Python, `out` to the suffixes of the first with each torch, and
# `others` to those of the rest.
function(simple_torch_find_environments pythons out others)
  set(suffixes "")
  set(rest "")
  foreach(python IN LISTS pythons)
    execute_process(COMMAND ${python} -I -c "${_simple_torch_query}"
      OUTPUT_VARIABLE output ERROR_VARIABLE error RESULT_VARIABLE status
      OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_STRIP_TRAILING_WHITESPACE)
    if(NOT status EQUAL 0)
      message(FATAL_ERROR "SIMPLE_TORCH_PYTHONS: ${python}: ${error} (status ${status})")
    endif()
    list(GET output 0 folder)
    list(GET output 1 version)
    list(GET output 2 py_minor)
    list(GET output 3 py_include)
    if(NOT EXISTS ${py_include}/Python.h)
      message(FATAL_ERROR "SIMPLE_TORCH_PYTHONS: ${python} has no headers, no ${py_include}/Python.h (Debian: python3-dev)")
    endif()
    string(REGEX MATCH "^[0-9]+\\.[0-9]+" suffix ${version})
    set(torch_minor ${suffix})
    _simple_torch_check_supported(${python} ${version} ${torch_minor} ${py_minor})
    if(suffix IN_LIST suffixes)
      set(suffix ${torch_minor}-py${py_minor})
      if(suffix IN_LIST rest OR py_minor STREQUAL first_py_of_${torch_minor})
        message(FATAL_ERROR "SIMPLE_TORCH_PYTHONS: torch ${torch_minor} with Python ${py_minor} is listed twice")
      endif()
      list(APPEND rest ${suffix})
    else()
      set(first_py_of_${torch_minor} ${py_minor})
      list(APPEND suffixes ${suffix})
    endif()
    message(STATUS "torch ${version} of ${python} (Python ${py_minor})")
    _simple_torch_import(${suffix} ${folder} ${py_include})
    set(TORCH_ENV_${suffix}_PYTHON ${python} PARENT_SCOPE)
    set(TORCH_ENV_${suffix}_DIR ${folder} PARENT_SCOPE)
    set(TORCH_ENV_${suffix}_VERSION ${version} PARENT_SCOPE)
    set(TORCH_ENV_${suffix}_TORCH_MINOR ${torch_minor} PARENT_SCOPE)
    set(TORCH_ENV_${suffix}_PY_MINOR ${py_minor} PARENT_SCOPE)
  endforeach()
  set(${out} ${suffixes} PARENT_SCOPE)
  set(${others} ${rest} PARENT_SCOPE)
endfunction()

# The front rejects a torch that is not supported, so a backend for it would not be used.
function(_simple_torch_check_supported python version torch_minor py_minor)
  if(NOT torch_minor IN_LIST SIMPLE_TORCH_SUPPORTED_TORCH)
    list(JOIN SIMPLE_TORCH_SUPPORTED_TORCH ", " supported)
    message(FATAL_ERROR "SIMPLE_TORCH_PYTHONS: ${python} has torch ${version}; supported versions: ${supported}")
  endif()
  if(NOT py_minor IN_LIST SIMPLE_TORCH_SUPPORTED_PYTHON)
    list(JOIN SIMPLE_TORCH_SUPPORTED_PYTHON ", " supported)
    message(WARNING "${python} is Python ${py_minor}; supported versions: ${supported}")
  endif()
endfunction()

function(_simple_torch_import suffix folder py_include)
  add_library(torch_env_${suffix} INTERFACE IMPORTED GLOBAL)
  target_include_directories(torch_env_${suffix} SYSTEM INTERFACE
    ${folder}/include ${folder}/include/torch/csrc/api/include)
  target_link_directories(torch_env_${suffix} INTERFACE ${folder}/lib)
  # libtorch.so loads libtorch_cuda, which registers its kernels when it is loaded: keep it.
  target_link_options(torch_env_${suffix} INTERFACE LINKER:--no-as-needed)
  target_link_libraries(torch_env_${suffix} INTERFACE torch torch_cpu c10)

  add_library(python_env_${suffix} INTERFACE IMPORTED GLOBAL)
  target_include_directories(python_env_${suffix} SYSTEM INTERFACE ${py_include})
endfunction()
