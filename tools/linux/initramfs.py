# SPDX-License-Identifier: MIT
"""An initial file system for a kernel: busybox, programs, the libraries that they need, and more.

The format is the kernel's "newc" (Documentation/driver-api/early-userspace/buffer-format.rst of its
source), uncompressed.
"""
import os
import re
import stat
import subprocess

# Debian 12's packages have /lib beside /usr/lib.
LIBRARIES = ("usr/lib/x86_64-linux-gnu", "usr/lib64", "lib/x86_64-linux-gnu", "lib64")
DEVICE_CONSOLE = (5, 1)


class Archive:
    """What is added, as bytes."""

    def __init__(self):
        self.parts, self.folders, self.number = [], set(), 0

    def entry(self, name, mode, data=b"", device=(0, 0)):
        """A file of whichever kind mode says, and the folders above it."""
        above = os.path.dirname(name)
        if above and above not in self.folders:
            self.folders.add(above)
            self.entry(above, stat.S_IFDIR | 0o755)
        self.number += 1
        encoded = name.encode() + b"\0"
        fields = (self.number, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(encoded), 0)
        head = b"070701" + b"".join(b"%08X" % field for field in fields) + encoded
        self.parts += [head, bytes(-len(head) % 4), data, bytes(-len(data) % 4)]

    def add(self, name, data, mode=0o755):
        self.entry(name, stat.S_IFREG | mode, data)

    def link(self, name, target):
        self.entry(name, stat.S_IFLNK | 0o777, target.encode())

    def content(self):
        self.entry("TRAILER!!!", 0)
        return b"".join(self.parts)


def needed(path):
    """Names of the libraries that a program or library asks for, and of its interpreter."""
    said = subprocess.run(["readelf", "-Wdl", path], capture_output=True, text=True,
                          check=False).stdout
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", said)) | {
        os.path.basename(name) for name in re.findall(r"interpreter: (\S+)\]", said)}


def libraries(root, program):
    """Name to file of all libraries that the program comes to ask for, in a system's root."""
    found, asked = {}, [program]
    while asked:
        for name in needed(asked.pop()):
            if name in found:
                continue
            paths = [os.path.join(root, folder, name) for folder in LIBRARIES]
            path = next((path for path in paths if os.path.exists(path)), None)
            if path is None:
                raise FileNotFoundError(f"no package has the library {name}")
            found[name] = os.path.realpath(path)
            asked.append(path)
    return found


def build(busybox, programs, files):
    """busybox: its file. programs: name to (file, root of the system that has its libraries).
    files: name to (bytes, mode)."""
    archive = Archive()
    wanted = {"bin/busybox": busybox}
    for name, (path, root) in programs.items():
        wanted[name] = path
        wanted.update(("lib/" + one, file) for one, file in libraries(root, path).items())
    for name, path in wanted.items():
        with open(path, "rb") as file:
            archive.add(name, file.read())
    archive.link("lib64", "lib")
    archive.link("bin/sh", "busybox")
    archive.entry("dev/console", stat.S_IFCHR | 0o600, device=DEVICE_CONSOLE)
    for name, (data, mode) in files.items():
        archive.add(name, data, mode)
    return archive.content()
