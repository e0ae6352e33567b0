"""What the bridge does in Python rather than in C++. Imported by it alone; plain data in and out."""
