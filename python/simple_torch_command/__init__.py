"""The command `simple` of an installed package: runs the host with the PyTorch of this Python.

It imports neither torch nor simple_torch, so that a program starts as fast as from a checkout.
"""
