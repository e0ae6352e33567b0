"""Makes the native library of tests/support available to the programs in this folder."""

from native_library import native_library

__all__ = ["native_library"]
