"""Generates the C ABI's files; the command is tools/generate_abi.py.

`kinds` and `table` read the TOML. `headers`, `front`, `backend`, `spl`, `symbols` and `documentation` each write one
kind of file. `outputs` lists all files.
"""
