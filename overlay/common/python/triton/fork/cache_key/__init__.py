"""What makes two kernels two: keys of sources and constants, of launches and of the installation."""
