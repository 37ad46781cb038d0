"""Stands in for systemd: a Unix datagram socket at the path of the first argument. Prints each message as a JSON list of
its lines. A file descriptor that comes with a message (BARRIER=1) is closed with it, as systemd does."""

import json
import socket
import sys

receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
receiver.bind(sys.argv[1])
print(json.dumps(["bound"]), flush=True)
while True:
    print(json.dumps(receiver.recv(8192).decode().splitlines()), flush=True)
