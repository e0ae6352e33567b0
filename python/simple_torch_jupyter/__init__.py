"""Simple for Jupyter's own programs: the kernel specification, the JupyterLab extension, and the Pygments lexer.

They run in the processes of Jupyter, nbconvert and papermill, so nothing here imports torch or simple_torch.
`python -m simple_torch_jupyter install` installs them; `simple_torch.notebook` runs in the kernel.
"""
