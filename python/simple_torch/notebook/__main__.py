"""Starts the Simple kernel: python -m simple_torch.notebook -f CONNECTION_FILE."""

from __future__ import annotations

from ipykernel.kernelapp import IPKernelApp

from simple_torch.notebook.kernel import SimpleKernel

if __name__ == "__main__":
    IPKernelApp.launch_instance(kernel_class=SimpleKernel)
