"""Parts of the bridge that are written in Python. Imported by the bridge only; they exchange plain data."""
