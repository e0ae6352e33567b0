"""Makes the documents a site. mkdocs.yml names the hooks; `bin/simple docs` runs mkdocs."""
