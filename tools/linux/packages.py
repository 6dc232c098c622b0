# SPDX-License-Identifier: MIT
"""Fetches a kernel, perf and busybox of a Debian suite from the distribution's own packages.

The fetched files stay in .cache/linux/ and are never committed. apt fetches them with a separate
state, so this machine's list of packages doesn't change. It checks the archive's signatures with
the keys of the package debian-archive-keyring.
"""
import os
import re
import shutil
import subprocess

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
CACHE = os.path.normpath(os.path.join(TOP, ".cache", "linux"))
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
KERNEL = "linux-image-amd64"


class Missing(Exception):
    """What can't be had here, in one line."""


def run(command, **more):
    """Its standard output."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **more)
    if done.returncode:
        words = [line for line in done.stderr.splitlines() if not line.startswith("W:")]
        raise Missing(f"{command[0]}: {' '.join(words[-1:]) or f'status {done.returncode}'}")
    return done.stdout


def own_mirror():
    """The first source of packages that this machine has its own release from."""
    with open("/etc/os-release", encoding="utf-8") as file:
        release = re.search(r'^VERSION_CODENAME="?(\w+)', file.read(), re.M)
    said = run(["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE)",
                "Created-By: Packages"])
    for line in said.splitlines():
        place, _, codename = line.rpartition(" ")
        if release and codename == release[1] and "debian" in place:
            return place
    raise Missing("this machine has no source of Debian's packages: give --mirror")


class Apt:
    """apt-get and apt-cache with these suites alone, in folder."""

    def __init__(self, folder, mirror, release, suite):
        self.suite = suite
        for name in ("lists/partial", "cache/archives/partial", "etc/preferences.d"):
            os.makedirs(os.path.join(folder, name), exist_ok=True)
        with open(os.path.join(folder, "sources.list"), "w", encoding="utf-8") as file:
            for one in dict.fromkeys((release, suite)):
                file.write(f"deb [arch=amd64 signed-by={KEYRING}] {mirror} {one} main\n")
        open(os.path.join(folder, "status"), "wb").close()
        settings = {
            "Dir::State": folder, "Dir::State::status": f"{folder}/status",
            "Dir::State::lists": f"{folder}/lists", "Dir::Cache": f"{folder}/cache",
            "Dir::Etc": f"{folder}/etc", "Dir::Etc::sourcelist": f"{folder}/sources.list",
            "Dir::Etc::sourceparts": "-", "APT::Architecture": "amd64",
            "APT::Architectures": "amd64", "Acquire::Languages": "none",
            "APT::Sandbox::User": "root",
        }
        with open(os.path.join(folder, "apt.conf"), "w", encoding="utf-8") as file:
            file.writelines(f'{name} "{value}";\n' for name, value in settings.items())
        self.environment = dict(os.environ, APT_CONFIG=os.path.join(folder, "apt.conf"),
                                LC_ALL="C")

    def call(self, *words, **more):
        return run([words[0], *words[1:]], env=self.environment, **more)

    def kernel(self):
        """The package that holds the suite's newest kernel. Its name has the version; since 7.3 the
        image itself is in a package that this one wants."""
        def wants(package, pattern):
            said = self.call("apt-cache", "show", f"{package}/{self.suite}"
                             if package == KERNEL else package)
            depends = re.search(r"^Depends: (.*)$", said, re.M)
            found = re.search(pattern, depends[1] if depends else "")
            return found[0] if found else None

        image = wants(KERNEL, r"linux-image-[0-9][^\s,]*")
        if image is None:
            raise Missing(f"{self.suite} has no {KERNEL}")
        return wants(image, r"linux-binary-[0-9][^\s,]*") or image

    def files(self, *packages):
        """(address, file name) of these packages and of what they depend on."""
        said = self.call("apt-get", "-y", "--no-install-recommends", "-t", self.suite,
                         "--print-uris", "install", *packages)
        return re.findall(r"^'([^']+)' (\S+\.deb) ", said, re.M)


def fetch(mirror, suite, fresh):
    """The folder with all packages unpacked, those of the suite first; fetched where they aren't
    yet, or with fresh."""
    folder = os.path.join(CACHE, suite)
    root, packages = os.path.join(folder, "root"), os.path.join(folder, "packages")
    if os.path.exists(os.path.join(folder, "whole")) and not fresh:
        return root
    for program, package in (("apt-get", "apt"), ("dpkg-deb", "dpkg")):
        if shutil.which(program) is None:
            raise Missing(f"{program} is missing, of Debian's package {package}")
    if not os.path.exists(KEYRING):
        raise Missing("debian-archive-keyring is missing; run: apt-get install "
                      "debian-archive-keyring")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(packages)
    apt = Apt(os.path.join(folder, "apt"), mirror or own_mirror(),
              suite.removesuffix("-backports"), suite)
    apt.call("apt-get", "-qq", "update")
    kernel = apt.kernel()
    apt.call("apt-get", "-qq", "download", kernel, cwd=packages)
    wanted = [name for _, name in apt.files("linux-perf", "busybox-static")]
    apt.call("apt-get", "-qq", "-y", "--no-install-recommends", "-t", suite, "--download-only",
             "install", "linux-perf", "busybox-static")
    archives = os.path.join(folder, "apt", "cache", "archives")
    for name in wanted:
        os.replace(os.path.join(archives, name), os.path.join(packages, name))
    for name in sorted(os.listdir(packages)):
        run(["dpkg-deb", "-x", os.path.join(packages, name), root])
    with open(os.path.join(folder, "whole"), "w", encoding="utf-8") as file:
        file.write("".join(name + "\n" for name in sorted(os.listdir(packages))))
    return root


def versions(suite):
    """Of the kernel and of perf, as their packages say."""
    with open(os.path.join(CACHE, suite, "whole"), encoding="utf-8") as file:
        names = file.read()
    return re.findall(r"^((?:linux-binary|linux-image|linux-perf)\S*?_[^_]+)_", names, re.M)


def program_in(root, name):
    """A program of the unpacked packages: Debian 12's busybox is in /bin."""
    places = [os.path.join(root, folder, name) for folder in ("usr/bin", "bin")]
    return next((place for place in places if os.path.exists(place)), places[0])


def kernel_in(root):
    """The kernel's image in an unpacked package."""
    for folder, _, names in os.walk(root):
        for name in names:
            if name.startswith("vmlinuz"):
                return os.path.join(folder, name)
    raise Missing("no package has a kernel's image")
