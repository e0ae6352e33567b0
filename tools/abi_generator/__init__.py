"""Generates the C ABI's files; the command is tools/generate_abi.py.

`kinds` and `table` read the TOML. `headers`, `cpp`, `front`, `backend`, `spl`, `symbols` and `documentation` each write
one kind of file. `released` compares the headers with the last release. `outputs` lists all files.
"""
