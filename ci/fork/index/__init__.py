"""The static package index of a wheelhouse."""
