"""Programs that try to get out. Each sets `result = True` when it did; anything else means it held.

`@NAME@` is filled in by the battery: a file outside, a dataset that is in the request, one that is
not, a live process of the same user, listening sockets.
"""

from dataclasses import dataclass

_PRELUDE = """
import ctypes, os, sys, struct, socket, errno
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
ARM = os.uname().machine == 'aarch64'
def call(x86, arm, *arguments):
    number = arm if ARM else x86
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return libc.syscall(ctypes.c_long(number), *wide)
def works(x86, arm, *arguments):
    return call(x86, arm, *arguments) >= 0
def tried(attempt):
    try:
        return attempt()
    except (OSError, MemoryError, ImportError, AttributeError, ValueError):
        return False
"""


@dataclass(frozen=True)
class Attack:
    name: str
    code: str
    ends: tuple[str, ...] = ("done", "failed")
    """The statuses by which it may end; a result of True is never one of them."""
    expression: str = ""
    """For an attempt that hurts nobody when it fails: several can be made by one process."""
    plain: bool = False
    """Sent without a dataset and with the usual limits, which has a path of its own in the runner."""

    @property
    def program(self) -> str:
        return _PRELUDE + self.code


def _tries(name: str, expression: str) -> Attack:
    return Attack(name, f"result = tried(lambda: {expression})", expression=expression)


def together(attacks: list[Attack], *, plain: bool = False) -> Attack:
    """One program that makes many attempts and gives the names of those that got through."""
    entries = "".join(f"    {a.name!r}: lambda: {a.expression},\n" for a in attacks)
    code = (
        f"attempts = {{\n{entries}}}\nresult = []\nfor name, attempt in attempts.items():\n"
        "    try:\n        if attempt():\n            result.append(name)\n"
        "    except Exception:\n        pass\n"
    )
    return Attack("together", code, ("done",), plain=plain)


_FILES = [
    _tries("read a secret", "open('@SECRET@').read() == '@CONTENT@'"),
    _tries("read the password file", "bool(open('/etc/passwd').read())"),
    _tries("read by a dotted path", "bool(open('@DATA@/../../../../../../etc/passwd').read())"),
    _tries("list the root's home", "bool(os.listdir('/root/.ssh') or True)"),
    _tries("list the secret's folder", "bool(os.listdir(os.path.dirname('@SECRET@')) or True)"),
    _tries("read another dataset", "bool(open('@OTHER@', 'rb').read())"),
    _tries(
        "read another dataset by DuckDB",
        "bool(con.execute(\"SELECT * FROM read_parquet('@OTHER@')\").fetchall())",
    ),
    _tries("write the dataset", "bool(open('@DATA@', 'r+b').write(b'x'))"),
    _tries("truncate the dataset", "os.truncate('@DATA@', 0) is None"),
    _tries(
        "truncate the dataset by opening it", "os.open('@DATA@', os.O_RDONLY | os.O_TRUNC) >= 0"
    ),
    _tries("remove the dataset", "os.unlink('@DATA@') is None"),
    _tries("rename the dataset", "os.rename('@DATA@', '@DATA@.x') is None"),
    _tries("open up the dataset's mode", "os.chmod('@DATA@', 0o777) is None"),
    _tries("touch the dataset's times", "os.utime('@DATA@', (1, 1)) is None"),
    _tries("mark the dataset", "os.setxattr('@DATA@', 'user.x', b'x') is None"),
    _tries("write to /tmp", "bool(open('/tmp/steward-escape', 'w').write('x'))"),
    _tries("write to shared memory", "bool(open('/dev/shm/steward-escape', 'w').write('x'))"),
    _tries("write beside the secret", "bool(open('@SECRET@.new', 'w').write('x'))"),
    _tries("write into a library", "bool(open(os.__file__, 'a').write('x'))"),
    _tries("symlink to the secret", "bool(os.symlink('@SECRET@', 'link') or open('link').read())"),
    _tries("hard link to the secret", "bool(os.link('@SECRET@', 'hard') or open('hard').read())"),
    _tries("hard link to the dataset", "os.link('@DATA@', 'hard') is None"),
    _tries("open by handle", "works(304, 265, -100, b'x' * 64, 0)"),
    _tries(
        "open with openat2",
        "works(437, 437, -100, b'/etc/passwd', struct.pack('=3Q', 0, 0, 0), 24)",
    ),
    _tries("make a device", "os.mknod('disk', 0o60666, os.makedev(8, 0)) is None"),
    _tries("read kernel memory", "bool(open('/dev/mem', 'rb').read(1))"),
    _tries("read the block device", "bool(open('/dev/vda', 'rb').read(1))"),
    _tries(
        "descriptors left open",
        "any(os.fstat(n) for n in range(3, 256) if n not in (@FDS@) and tried(lambda n=n: os.read(n, 1)))",
    ),
]
_PROC = [
    _tries("list processes", "len(os.listdir('/proc')) > 0"),
    _tries("environment of the parent", "bool(open('/proc/@PID@/environ').read())"),
    _tries("environment of process 1", "bool(open('/proc/1/environ').read())"),
    _tries("memory of the parent", "os.open('/proc/@PID@/mem', os.O_RDWR) >= 0"),
    _tries("root through process 1", "bool(os.listdir('/proc/1/root'))"),
    _tries("own memory by file", "os.open('/proc/self/mem', os.O_RDWR) >= 0"),
    _tries("working folder of the parent", "bool(os.listdir('/proc/@PID@/cwd'))"),
    _tries("kernel settings", "bool(open('/proc/sys/kernel/core_pattern', 'r+'))"),
    _tries("magic system request", "bool(open('/proc/sysrq-trigger', 'w').write('s'))"),
    _tries("control groups", "bool(os.listdir('/sys/fs/cgroup'))"),
    Attack(
        "secrets in the environment",
        "result = any('@CONTENT@' in str(v) for v in dict(os.environ).values())",
    ),
    Attack("secrets in arguments", "result = any('@CONTENT@' in a for a in sys.argv)"),
]
_PROCESSES = [
    _tries("ptrace the parent", "works(101, 117, 16, @PID@, 0, 0)"),
    _tries("ptrace me", "works(101, 117, 0, 0, 0, 0)"),
    _tries(
        "read another process's memory", "works(310, 270, @PID@, b'x' * 16, 1, b'x' * 16, 1, 0)"
    ),
    _tries(
        "write another process's memory", "works(311, 271, @PID@, b'x' * 16, 1, b'x' * 16, 1, 0)"
    ),
    _tries("handle of the parent", "works(434, 434, @PID@, 0)"),
    _tries("steal a descriptor", "works(438, 438, 0, 0, 0)"),
    _tries("kill the parent", "os.kill(@PID@, 0) is None"),
    _tries("kill by parent's number", "os.kill(os.getppid(), 0) is None and os.getppid() > 0"),
    _tries("kill everyone", "os.kill(-1, 0) is None"),
    _tries("kill by thread", "works(200, 130, @PID@, 0)"),
    _tries("kill by group and thread", "works(234, 131, @PID@, @PID@, 0)"),
    _tries("queue a signal", "works(129, 138, @PID@, 10, b'\\0' * 128)"),
    _tries(
        "signal by a descriptor's owner", "__import__('fcntl').fcntl(os.pipe()[0], 8, @PID@) == 0"
    ),
    _tries(
        "lower the parent's limits", "works(302, 261, @PID@, 7, struct.pack('=QQ', 3, 3), None)"
    ),
    _tries("pin the parent", "os.sched_setaffinity(@PID@, {0}) is None"),
    _tries("slow the parent", "os.setpriority(0, @PID@, 19) is None"),
    _tries("fork", "os.fork() >= 0"),
    _tries("vfork", "works(58, 1000, 0)"),
    _tries("clone3", "works(435, 435, struct.pack('=11Q', 0, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0), 88)"),
    _tries("run a program", "__import__('subprocess').run(['/bin/true']).returncode == 0"),
    _tries("exec", "os.execv(sys.executable, [sys.executable, '-c', '1']) is None"),
    _tries("exec from memory", "works(319, 279, b'x', 0)"),
    _tries(
        "spawn by multiprocessing",
        "__import__('multiprocessing').Process(target=print).start() is None",
    ),
    _tries(
        "run a program by way of subclasses",
        "[c for c in object.__subclasses__() if c.__name__ == 'Popen'][0](['/bin/true']).wait() == 0",
    ),
    _tries(
        "unpickle a call",
        "__import__('pickle').loads(b\"cposix\\nsystem\\n(S'/bin/true'\\ntR.\") == 0",
    ),
    _tries("spawn by posix_spawn", "os.posix_spawn('/bin/true', ['true'], {}) > 0"),
    _tries("daemon left behind", "os.fork() == 0 and os.setsid() > 0"),
    _tries("leave the session", "os.setsid() > 0"),
    _tries("compare kernel objects", "works(312, 272, os.getpid(), @PID@, 0, 0, 0)"),
]
_NETWORK = [
    _tries("connect to a port", "socket.create_connection(('127.0.0.1', @PORT@), 1) is not None"),
    _tries("listen on a port", "socket.create_server(('127.0.0.1', 0)) is not None"),
    _tries("datagram", "socket.socket(socket.AF_INET, socket.SOCK_DGRAM) is not None"),
    _tries("IPv6", "socket.socket(socket.AF_INET6) is not None"),
    _tries("raw packets", "socket.socket(socket.AF_PACKET, socket.SOCK_RAW) is not None"),
    _tries("netlink", "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW) is not None"),
    _tries("vsock", "socket.socket(40, socket.SOCK_STREAM) is not None"),
    _tries("kernel crypto", "socket.socket(38, socket.SOCK_SEQPACKET) is not None"),
    _tries("bluetooth", "socket.socket(31, socket.SOCK_RAW) is not None"),
    _tries("unix socket by path", "socket.socket(socket.AF_UNIX).connect('@SOCK@') is None"),
    _tries(
        "abstract unix socket", "socket.socket(socket.AF_UNIX).connect('\\0@ABSTRACT@') is None"
    ),
    _tries(
        "datagram pair to a path",
        "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b'x', '@SOCK@') > 0",
    ),
    _tries("stream pair to a path", "socket.socketpair()[0].sendto(b'x', '@SOCK@') > 0"),
    _tries(
        "every other family",
        "any(tried(lambda f=f: bool(socket.socket(f, socket.SOCK_DGRAM))) for f in range(2, 46))",
    ),
    _tries("look up a name", "bool(socket.getaddrinfo('example.org', 80))"),
]
_KERNEL = [
    _tries("io_uring", "works(425, 425, 8, ctypes.create_string_buffer(120))"),
    _tries("keyrings", "works(250, 219, 0, -3, 1)"),
    _tries("add a key", "works(248, 217, b'user', b'x', b'y', 1, -3)"),
    _tries("userfaultfd", "works(323, 282, 1)"),
    _tries("bpf", "works(321, 280, 0, ctypes.create_string_buffer(72), 72)"),
    _tries("perf events", "works(298, 241, ctypes.create_string_buffer(112), 0, -1, -1, 0)"),
    _tries("mount", "libc.mount(b'none', b'.', b'tmpfs', 0, None) == 0"),
    _tries("unmount", "libc.umount2(b'/scratch', 2) == 0"),
    _tries("bind the root", "libc.mount(b'/', b'.', None, 4096, None) == 0"),
    _tries("remount writable", "libc.mount(None, b'/', None, 32 | 4096, None) == 0"),
    _tries("new mount calls", "works(430, 430, b'tmpfs', 0) or works(428, 428, -100, b'/', 1)"),
    _tries("chroot", "os.chroot('.') is None"),
    _tries("pivot_root", "works(155, 41, b'.', b'.')"),
    _tries("new user namespace", "libc.unshare(0x10000000) == 0"),
    _tries("new mount namespace", "libc.unshare(0x20000) == 0"),
    _tries("enter a namespace", "libc.setns(0, 0) == 0"),
    _tries("become root", "os.setuid(0) is None"),
    _tries("change groups", "os.setgroups([0]) is None"),
    _tries("take capabilities", "works(126, 91, struct.pack('=Ii', 0x20080522, 0), b'\\xff' * 24)"),
    _tries("load a module", "works(175, 105, b'x', 1, b'')"),
    _tries("change the host's name", "works(170, 161, b'x', 1)"),
    _tries("set the clock", "works(227, 112, 0, struct.pack('=qq', 0, 0))"),
    _tries("reboot", "works(169, 142, 0xfee1dead, 672274793, 0, None)"),
    _tries("switch swap", "works(167, 224, b'x', 0)"),
    _tries("read the kernel's log", "works(103, 116, 3, ctypes.create_string_buffer(64), 64)"),
    _tries("personality", "works(135, 92, 0x0040000)"),
    _tries("shared memory segment", "works(29, 194, 0, 1 << 30, 0o1600)"),
    _tries("message queue", "works(68, 186, 0, 0o1600)"),
    _tries("semaphores", "works(64, 190, 0, 1, 0o1600)"),
    _tries("posix queue", "works(240, 180, b'q', 0o102, 0o600, None)"),
    _tries("anonymous file", "works(319, 279, b'x', 0)"),
    _tries("secret memory", "works(447, 447, 0)"),
    _tries("watch files", "works(294, 26, 0)"),
    _tries("watch everything", "works(300, 262, 0, 0)"),
    _tries("undo dumpable", "libc.prctl(4, 1, 0, 0, 0) == 0"),
    _tries("undo the filter", "works(317, 277, 1, 0, ctypes.create_string_buffer(16))"),
    _tries("type into the terminal", "__import__('fcntl').ioctl(0, 0x5412, b'x') is not None"),
    _tries(
        "raise a limit",
        "__import__('resource').setrlimit(__import__('resource').RLIMIT_DATA, (-1, -1)) is None",
    ),
    _tries(
        "raise the processor limit",
        "__import__('resource').setrlimit(__import__('resource').RLIMIT_CPU, (-1, -1)) is None",
    ),
    Attack(
        "32-bit calls",
        "import mmap\nresult = False\nif not ARM:\n    page = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=7)\n    page.write(bytes.fromhex('b814000000cd80c3'))\n    address = ctypes.addressof(ctypes.c_char.from_buffer(page))\n    result = ctypes.CFUNCTYPE(ctypes.c_int)(address)() > 0",
        ("killed", "done"),
    ),
    Attack(
        "x32 calls",
        "result = not ARM and libc.syscall(ctypes.c_long(0x40000000 + 39)) > 0",
        ("killed", "done"),
    ),
]
_BOMBS = [
    Attack(
        "fork bomb",
        "import contextlib\nfor _ in range(1000):\n    with contextlib.suppress(OSError):\n        os.fork()\n        result = True",
    ),
    Attack(
        "thread bomb",
        "import threading, time\nthreading.stack_size(65536)\ntry:\n    for _ in range(5000):\n        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n    result = True\nexcept RuntimeError:\n    os._exit(3)",
        ("killed", "failed", "done"),
    ),
    Attack("memory in one piece", "x = bytearray(4 << 30)\nresult = True", ("out_of_memory",)),
    Attack(
        "memory by pieces",
        "x = []\nwhile True:\n    x.append(bytearray(8 << 20))",
        ("out_of_memory", "killed"),
    ),
    Attack(
        "memory by numpy",
        "import numpy as np\nx = np.ones(1 << 30)\nresult = True",
        ("out_of_memory",),
    ),
    Attack(
        "memory by sharing",
        "import mmap\ntry:\n    x = mmap.mmap(-1, 4 << 30)\n    result = True\nexcept OSError:\n    result = False",
    ),
    Attack(
        "memory by scratch",
        "x = open('f', 'wb')\ntry:\n    for _ in range(4096):\n        x.write(bytes(1 << 20))\n        x.flush()\n    result = True\nexcept OSError:\n    result = False",
        ("done", "too_large"),
    ),
    Attack(
        "inodes",
        "result = False\ntry:\n    for n in range(200_000):\n        open(f'f{n}', 'w').close()\n    result = True\nexcept OSError:\n    pass",
        ("done", "too_large", "timeout"),
    ),
    Attack(
        "sparse file",
        "f = open('s', 'wb')\ntry:\n    f.truncate(1 << 40)\n    result = True\nexcept OSError:\n    result = False",
        ("done", "too_large"),
    ),
    Attack(
        "reserve disk",
        "f = open('s', 'wb')\nresult = tried(lambda: os.posix_fallocate(f.fileno(), 0, 4 << 30) is None)",
        ("done", "too_large"),
    ),
    Attack(
        "descriptors", "result = tried(lambda: len([os.dup(1) for _ in range(100_000)]) == 100_000)"
    ),
    Attack("endless loop", "while True:\n    pass", ("timeout",)),
    Attack("endless sleep", "import time\ntime.sleep(1000)", ("timeout",)),
    Attack(
        "deaf to signals",
        "import signal\nfor n in range(1, 65):\n    try:\n        signal.signal(n, signal.SIG_IGN)\n    except (OSError, ValueError):\n        pass\nwhile True:\n    pass",
        ("timeout",),
    ),
    Attack("output flood", "while True:\n    print('x' * 65536)", ("timeout",)),
    Attack("error flood", "while True:\n    sys.stderr.write('x' * 65536)", ("timeout",)),
    Attack(
        "answer flood",
        "for n in range(3, 64):\n    try:\n        while True:\n            os.write(n, b'x' * 65536)\n    except OSError:\n        pass",
        ("too_large", "failed", "done", "timeout"),
    ),
    Attack("huge result", "result = 'x' * (64 << 20)", ("too_large",)),
    Attack(
        "deep result", "result = []\nfor _ in range(100_000):\n    result = [result]", ("failed",)
    ),
    Attack("result that holds itself", "result = []\nresult.append(result)", ("failed",)),
    Attack(
        "hash flood",
        "x = {}\nn = (1 << 61) - 1\nwhile True:\n    x[len(x) * n] = 1",
        ("timeout", "out_of_memory", "killed"),
    ),
    Attack("slow pattern", "import re\nre.match('(a+)+$', 'a' * 64 + 'b')", ("timeout",)),
    Attack("crash", "ctypes.string_at(0)", ("killed",)),
    Attack("abort", "os.abort()", ("killed",)),
    Attack("exit early", "os._exit(0)", ("failed",)),
    Attack(
        "stack overflow",
        "sys.setrecursionlimit(10**9)\ndef f(): f()\nf()",
        ("killed", "failed", "out_of_memory", "timeout"),
    ),
    Attack(
        "forged answer",
        "import json\nfor n in range(3, 64):\n    try:\n        os.write(n, json.dumps({'status': 'done', 'tier': 'x', 'walls': ['none']}).encode())\n    except OSError:\n        pass\nos._exit(0)",
        ("done", "failed"),
    ),
    Attack(
        "answer that is not JSON",
        "for n in range(3, 64):\n    try:\n        os.write(n, b'[' * 100000)\n    except OSError:\n        pass\nos._exit(0)",
        ("failed",),
    ),
    Attack(
        "pickle in the answer",
        "import pickle\nclass X:\n    def __reduce__(self):\n        return (os.system, ('true',))\nresult = pickle.dumps(X()).hex()",
    ),
]
_ENGINE = [
    _tries(
        "DuckDB reads a file",
        "bool(con.execute(\"SELECT * FROM read_text('@SECRET@')\").fetchall())",
    ),
    _tries(
        "DuckDB lists files", "len(con.execute(\"SELECT * FROM glob('/etc/*')\").fetchall()) > 0"
    ),
    _tries(
        "DuckDB writes outside",
        "con.execute(\"COPY (SELECT 1) TO '/tmp/steward-escape.csv'\") is not None",
    ),
    _tries(
        "DuckDB writes the dataset",
        "con.execute(\"COPY (SELECT 1) TO '@DATA@' (FORMAT parquet)\") is not None",
    ),
    _tries(
        "DuckDB attaches a file", "con.execute(\"ATTACH '/tmp/steward-escape.db'\") is not None"
    ),
    _tries("DuckDB installs an extension", "con.execute('INSTALL httpfs') is not None"),
    _tries(
        "DuckDB loads an extension", "con.execute(\"LOAD '/tmp/x.duckdb_extension'\") is not None"
    ),
    _tries("DuckDB unlocks itself", "con.execute('SET lock_configuration = false') is not None"),
    _tries("DuckDB opens itself", "con.execute('SET enable_external_access = true') is not None"),
    _tries(
        "the default DuckDB reads a file",
        "bool(__import__('duckdb').execute(\"SELECT * FROM read_text('@SECRET@')\").fetchall())",
    ),
    _tries(
        "the default DuckDB unlocks itself",
        "__import__('duckdb').execute('SET lock_configuration = false') is not None",
    ),
    _tries(
        "a fresh DuckDB reads a file",
        "bool(__import__('duckdb').connect().execute(\"SELECT * FROM read_text('@SECRET@')\").fetchall())",
    ),
    _tries(
        "a fresh DuckDB goes online",
        "bool(__import__('duckdb').connect().execute(\"SELECT * FROM 'http://127.0.0.1:@PORT@/x.csv'\").fetchall())",
    ),
    _tries("pandas reads a file", "len(__import__('pandas').read_csv('/etc/passwd')) > 0"),
    _tries("polars reads a file", "len(__import__('polars').read_csv('/etc/passwd')) > 0"),
    _tries("pyarrow reads a file", "bool(__import__('pyarrow').OSFile('/etc/passwd').read())"),
    _tries(
        "sqlite writes a file",
        "bool(__import__('sqlite3').connect('/tmp/steward-escape.db').execute('create table t(a)'))",
    ),
]
ATTACKS = [*_FILES, *_PROC, *_PROCESSES, *_NETWORK, *_KERNEL, *_BOMBS, *_ENGINE]
