# Starts Patroni below a process that adopts what Patroni leaves to init: PostgreSQL. So one family holds both, which a test
# freezes and kills as one. Arguments: a file for Patroni's process id, Patroni and its arguments.

import ctypes
import os
import signal
import sys

PR_SET_CHILD_SUBREAPER = 36
ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
patroni = os.spawnv(os.P_NOWAIT, sys.executable, [sys.executable, *sys.argv[2:]])
with open(sys.argv[1], 'w') as file:
    file.write(str(patroni))
signal.signal(signal.SIGTERM, lambda *_: os.kill(patroni, signal.SIGTERM))
while os.wait()[0] != patroni:
    pass
