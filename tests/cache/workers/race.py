"""Compile a few kernels at the same time as other processes: all wait for one file to appear."""

import hashlib
import os
import sys
import time

import common

go, mine = sys.argv[1], sys.argv[2]
said = common.Said()
with open(mine, "w"):
    pass
while not os.path.exists(go):
    time.sleep(0.001)
kernels = [common.compile_kernel(value=value) for value in range(4)]
common.report({"kernels": [hashlib.sha256(k.kernel).hexdigest() for k in kernels], "said": said.take()})
