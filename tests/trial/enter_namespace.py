"""Inside a new network namespace: enable loopback, listen, pass the socket out, run the program.

The socket belongs to the namespace it was made in. So the process outside can serve the program
through it, while the program can reach nothing else. Started as a file with `python -I -S`.
"""

import fcntl
import os
import socket
import struct
import sys

_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 0x1


def raise_loopback() -> None:
    """`ip link set lo up`, without needing the `ip` program."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        name = struct.pack("16sH14x", b"lo", 0)
        answer = fcntl.ioctl(any_socket, _SIOCGIFFLAGS, name)
        flags = struct.unpack("16sH14x", answer)[1]
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | _IFF_UP))


def main(arguments: list[str]) -> None:
    """Arguments: the descriptor to answer on, the caller's namespace, then the command."""
    channel = socket.socket(fileno=int(arguments[0]))
    if os.readlink("/proc/self/ns/net") == arguments[1]:  # noqa: PTH115 - no pathlib needed here
        sys.exit("still in the namespace of the caller; the client is not started")
    raise_loopback()
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    port = listener.getsockname()[1]
    socket.send_fds(channel, [b"listening"], [listener.fileno()])
    listener.close()
    channel.close()
    environment = {**os.environ, "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}"}
    os.execve(arguments[2], arguments[2:], environment)


if __name__ == "__main__":
    main(sys.argv[1:])
