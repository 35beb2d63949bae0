"""Getting base wheels from a package index, never without checking them."""
