"""The source base: upstream's own build, run on the submodule with the queue applied."""
