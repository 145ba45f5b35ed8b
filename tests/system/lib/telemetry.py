# SPDX-License-Identifier: BSD-3-Clause
"""A client of DPDK's telemetry socket (version 2)."""

import json
import os
import socket


class Telemetry:
    """One connection to the process with this file prefix; as many requests as wanted."""

    def __init__(self, file_prefix):
        folder = os.environ.get("XDG_RUNTIME_DIR", "/tmp") if os.geteuid() else "/var/run"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(20)
        self.socket.connect(os.path.join(folder, "dpdk", file_prefix, "dpdk_telemetry.v2"))
        self.greeting = json.loads(self.socket.recv(1024))

    def ask(self, command, **parameters):
        """The answer to COMMAND,name=value,...; the parameter function is written func."""
        words = ",".join(f"{name}={value}" for name, value in parameters.items())
        self.socket.send((command + ("," + words if words else "")).encode())
        answer = json.loads(self.socket.recv(self.greeting["max_output_len"] + 1))
        return answer[command.split(",")[0]]

    def close(self):
        self.socket.close()
