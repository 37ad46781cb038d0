"""Executes a command for which the kernel has no IPv6: socket(AF_INET6) gives EAFNOSUPPORT (seccomp(2))."""

import ctypes
import errno
import os
import platform
import socket
import struct
import sys

SOCKET = {'x86_64': 41, 'aarch64': 198}[platform.machine()]
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD, EQUALS, RETURN = 0x20, 0x15, 0x06
ALLOW, ERRNO = 0x7FFF0000, 0x00050000

# struct seccomp_data: nr at 0, the first argument at 16.
program = [
    (LOAD, 0, 0, 0),
    (EQUALS, 0, 3, SOCKET),
    (LOAD, 0, 0, 16),
    (EQUALS, 0, 1, socket.AF_INET6),
    (RETURN, 0, 0, ERRNO | errno.EAFNOSUPPORT),
    (RETURN, 0, 0, ALLOW),
]
code = b''.join(struct.pack('HBBI', *instruction) for instruction in program)
instructions = ctypes.create_string_buffer(code)
filter_ = struct.pack('HP', len(program), ctypes.addressof(instructions))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter_, 0, 0) != 0:
    sys.exit(os.strerror(ctypes.get_errno()))
os.execvp(sys.argv[1], sys.argv[1:])
