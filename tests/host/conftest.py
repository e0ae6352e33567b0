"""Lets the programs call the native library of tests/support."""

from native_library import native_library

__all__ = ["native_library"]
