"""Simple in notebooks: the %%simple magic of Python notebooks, and the Simple kernel, which runs Python cells too.

`%load_ext simple_torch` loads the magic, and `python -m simple_torch.notebook` is the kernel. Both run Simple cells in
one `simple_torch.Session`, which shares the variables of the notebook. `simple_torch_jupyter` installs the kernel.
"""
