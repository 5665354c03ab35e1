/**
 * What a hostile Python script tries: the body of a function that returns its proof when it worked, and returns
 * nothing or raises when it did not. `K` holds what the script knows of the machine around it.
 */
export type Attempts = Readonly<Record<string, string>>;

/** Those marked with a star also run without a sandbox, where they must succeed. */
export const FILES: Attempts = {
  "*write by an absolute path": "return put(K.outside + '/made')",
  "*write by way of ..": "return put(K.workspace + '/../outside/made')",
  "*write through a link of its own":
    "os.symlink(K.outside, K.workspace + '/link'); return put(K.workspace + '/link/made')",
  "write through a hard link of its own":
    "os.link(K.outside + '/canary.txt', K.workspace + '/hard'); return put(K.workspace + '/hard')",
  "*write through /proc/self/root": "return put('/proc/self/root' + K.outside + '/made')",
  "write through /proc/1/root": "return put('/proc/1/root' + K.outside + '/made')",
  "write through the folder of the parent": "return put('/proc/%d/root%s/made' % (os.getppid(), K.outside))",
  "*write through a descriptor of a folder":
    "f = os.open(K.outside, os.O_RDONLY); return os.close(os.open('made', os.O_WRONLY | os.O_CREAT, dir_fd=f)) or 'made'",
  "remove a file outside": "os.unlink(K.outside + '/canary.txt'); return 'gone'",
  "rename a folder outside": "os.rename(K.outside + '/tree', K.outside + '/moved'); return 'moved'",
  "move a folder outside into its own":
    "os.rename(K.outside + '/tree', K.workspace + '/taken'); return 'taken'",
  "change the mode of a file outside": "os.chmod(K.outside + '/canary.txt', 0o777); return 'changed'",
  "give a file outside away": "os.chown(K.outside + '/canary.txt', 1, 1); return 'given'",
  "cut a file outside": "os.truncate(K.outside + '/canary.txt', 0); return 'cut'",
  "set an attribute of a file outside":
    "os.setxattr(K.outside + '/canary.txt', 'user.x', b'1'); return 'set'",
  "rename its own folder away": "os.rename(K.workspace, K.workspace + '-away'); return 'renamed'",
  "open by handle":
    "import struct\nh = struct.pack('<IiIIII', 8, 1, 2, 0, 0, 0)\nm = os.open('/', os.O_RDONLY)\nreturn proof(call('open_by_handle_at', m, ctypes.c_char_p(h), os.O_RDONLY))",
  "bind a folder over another":
    "return proof(call('mount', b'/proc/1/root', (K.workspace + '/m').encode(), None, 4096, None))",
  "make everything writable": "return proof(call('mount', None, b'/', None, 32 | 4096, None))",
  "take the cover off the Hermes home": "return proof(call('umount2', K.hermes.encode(), 2))",
  "clone a mount": "return proof(call('open_tree', -100, b'/', 1))",
  "attach a mount": "return proof(call('move_mount', -1, b'', -100, b'/', 4))",
  "make a file system": "return proof(call('fsopen', b'tmpfs', 0))",
  "change its root": "os.mkdir(K.workspace + '/r'); os.chroot(K.workspace + '/r'); return 'rooted'",
  "turn its root": "return proof(call('pivot_root', b'/', b'/'))",
  "make the node of a disk":
    "d = os.stat('/').st_dev; os.mknod(K.workspace + '/disk', 0o60600, d); return repr(open(K.workspace + '/disk', 'rb').read(4))",
  "make the node of memory":
    "os.mknod(K.workspace + '/mem', 0o20600, os.makedev(1, 1)); return repr(open(K.workspace + '/mem', 'rb').read(4))",
  "open a device of the machine":
    "found = [p for p in glob.glob('/dev/*') if os.path.basename(p) not in PLAIN_DEVICES]; return found or None",
  "write the settings of the kernel": "return put('/proc/sys/kernel/core_pattern')",
  "press a key of the kernel": "return put('/proc/sysrq-trigger')",
  "write below /sys":
    "return first(put, ['/sys/kernel/profiling', '/sys/power/state', '/sys/kernel/mm/ksm/run'])",
  "leave its group of processes":
    "return first(put, glob.glob('/sys/fs/cgroup/*/cgroup.procs') + glob.glob('/sys/fs/cgroup/cgroup.procs') + glob.glob('/sys/fs/cgroup/*/release_agent'))",
  "write the system's settings":
    "return first(put, ['/etc/hermes-made', '/etc/ld.so.preload', '/etc/cron.d/x', '/etc/profile.d/x.sh', '/usr/local/bin/hermes-x'])",
  "change the interpreter":
    "p = os.path.realpath(sys.executable); return first(put, [p, os.path.dirname(p) + '/hermes-x', '/usr/bin/env'])",
  "change the library":
    "return first(put, [os.__file__, os.path.dirname(os.__file__) + '/sitecustomize.py'])",
};

/** Descriptors come first: later attempts open some themselves. */
export const SECRETS: Attempts = {
  "find an inherited descriptor":
    "return [t for t in (os.readlink('/proc/self/fd/%d' % n) for n in range(3, 256) if os.path.lexists('/proc/self/fd/%d' % n)) if not t.startswith('pipe:') and '/proc/' not in t] or None",
  "*read a key in the home folder": "return read(K.home + '/.ssh/id_ed25519')",
  "*read keys of a cloud": "return read(K.home + '/.aws/credentials')",
  "*read other credentials":
    "return first(read, [K.home + '/' + n for n in ('.netrc', '.npmrc', '.git-credentials', '.config/gh/hosts.yml', '.bash_history')])",
  "*read the keys of Hermes": "return read(K.hermes + '/.env')",
  "*read the state of Hermes": "return read(K.hermes + '/state.db')",
  "read the keys through a link":
    "os.symlink(K.home + '/.ssh', K.workspace + '/keys'); return read(K.workspace + '/keys/id_ed25519')",
  "read the keys through /proc/1/root": "return read('/proc/1/root' + K.home + '/.ssh/id_ed25519')",
  "*read variables of other processes": "return first(read, glob.glob('/proc/[0-9]*/environ'))",
  "find a secret among its own variables":
    "return [n for n, v in os.environ.items() if K.secret in v] or None",
  "find a name of a socket among its variables":
    "return [n for n in os.environ if n in ('SSH_AUTH_SOCK', 'DBUS_SESSION_BUS_ADDRESS', 'XDG_RUNTIME_DIR', 'DISPLAY')] or None",
  "read the passwords of the system": "return open('/etc/shadow').read() or None",
  "*read the machine's temporary files": "return read(K.host_temporary + '/file')",
  "list what services run": "return os.listdir('/run') + os.listdir('/var/run') or None",
  "read shared memory of others": "return os.listdir('/dev/shm') or None",
  "*see other processes": "return os.path.exists('/proc/%d' % K.victim) and 'seen' or None",
  "read the memory of the runtime": "return open('/proc/%d/mem' % K.runtime, 'rb') and 'opened'",
  "read the memory of the machine":
    "return first(lambda p: open(p, 'rb').read(4) and p, ['/proc/kcore', '/dev/mem', '/dev/kmem', '/dev/port', '/proc/kmsg', '/dev/kmsg'])",
  "read the sandbox's own descriptors":
    "return [t for t in (os.readlink(f) for f in glob.glob('/proc/1/fd/*')) if not t.startswith(('pipe:', '/dev/null', 'anon_inode', 'socket:'))] or None",
  "open the pipes of the sandbox's own process":
    "return first(lambda p: os.open(p, os.O_RDWR | os.O_NONBLOCK) and p, [p for p in glob.glob('/proc/1/fd/*') if os.path.basename(p) not in '012'])",
};

export const NETWORK: Attempts = {
  "*a TCP port of the machine": "return tcp(socket.AF_INET, ('127.0.0.1', K.tcp))",
  "a TCP port on another address of the machine":
    "return first(lambda a: tcp(socket.AF_INET, (a, K.tcp)), ['0.0.0.0', '127.0.0.2', '172.17.0.1', '10.0.2.2', '192.168.122.1'])",
  "a TCP port by IPv6": "return tcp(socket.AF_INET6, ('::1', K.tcp6))",
  "*a datagram to the machine":
    "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(('127.0.0.1', K.udp)); s.send(b'x'); time.sleep(0.05); s.send(b'x'); return 'sent'",
  "a datagram elsewhere":
    "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b'x', ('192.0.2.1', 53)); return 'sent'",
  "a look-up of a name": "return socket.getaddrinfo('example.org', 443)",
  "raw packets": "return socket.socket(socket.AF_INET, socket.SOCK_RAW, 1) and 'opened'",
  "packets below the network": "return socket.socket(17, socket.SOCK_RAW, 0x0300) and 'opened'",
  "*an abstract socket": "return tcp(socket.AF_UNIX, '\\0' + K.abstract)",
  "*a socket in its own folder": "return tcp(socket.AF_UNIX, K.socket_inside)",
  "*a socket outside": "return tcp(socket.AF_UNIX, K.socket_outside)",
  "a socket by another way": "return tcp(socket.AF_UNIX, '/proc/self/cwd/dev.sock')",
  "sockets of services":
    "return first(lambda p: tcp(socket.AF_UNIX, p), ['/run/docker.sock', '/var/run/docker.sock', '/run/dbus/system_bus_socket', '/run/systemd/private', '/run/containerd/containerd.sock'])",
  "an interface of the machine":
    "return [l for l in open('/proc/net/dev').read().splitlines()[2:] if not l.strip().startswith('lo:')] or None",
  "a new interface by netlink":
    "import struct\ns = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)\nbody = struct.pack('=BxHiII', 0, 0, 0, 0, 0) + struct.pack('=HH4s', 8, 3, b'hx0\\0') + struct.pack('=HHHH6sxx', 16, 18, 10, 1, b'dummy\\0')\ns.send(struct.pack('=IHHII', 16 + len(body), 16, 0x605, 1, 0) + body)\nreturn struct.unpack('=i', s.recv(4096)[16:20])[0] == 0 and 'made' or None",
  "a socket to the machine below":
    "s = socket.socket(40, socket.SOCK_STREAM); s.connect((2, 1024)); return 'connected'",
  "sockets of rare families":
    "return first(lambda f: socket.socket(f, 2) and f, [9, 17, 21, 29, 30, 31, 38, 40, 41, 44])",
  "the network of another process":
    "return first(lambda p: proof(call('setns', os.open(p, os.O_RDONLY), 0)), ['/proc/1/ns/net', '/proc/self/ns/net', '/proc/1/ns/user', '/proc/self/ns/mnt'])",
};

export const PROCESSES: Attempts = {
  "*a signal to a process of the machine": "os.kill(K.victim, 0); return 'reached'",
  "end a process of the machine": "os.kill(K.victim, 9); return 'ended'",
  "end the runtime": "os.kill(K.runtime, 9); return 'ended'",
  "a handle of a process of the machine": "return os.pidfd_open(K.victim)",
  "slow a process of the machine down": "os.setpriority(os.PRIO_PROCESS, K.victim, 19); return 'slowed'",
  "limit a process of the machine":
    "import resource; resource.prlimit(K.victim, resource.RLIMIT_NOFILE, (3, 3)); return 'limited'",
  "move a process of the machine": "os.sched_setaffinity(K.victim, {0}); return 'moved'",
  "trace the process that holds the sandbox": "return proof(call('ptrace', 16, 1, 0, 0))",
  "be traced by whoever started it": "return proof(call('ptrace', 0, 0, 0, 0))",
  "read memory of another process": "return proof(call('process_vm_readv', 1, None, 0, None, 0, 0))",
  "write memory of another process": "return proof(call('process_vm_writev', 1, None, 0, None, 0, 0))",
  "find more rights in the process that holds the sandbox":
    "l = dict(l.split(':', 1) for l in open('/proc/1/status').read().splitlines()); return [n for n, v in (('CapEff', '0' * 16), ('CapBnd', '0' * 16), ('NoNewPrivs', '1'), ('Seccomp', '2')) if l[n].strip() != v] or None",
  "take a descriptor of another process": "return proof(call('pidfd_getfd', os.pidfd_open(1), 3, 0))",
  "type into the terminal":
    "import fcntl; return first(lambda f: fcntl.ioctl(f, 0x5412, b'x') and f, [0, 1, 2, open('/dev/tty')])",
  "see what is typed on a terminal of its own":
    "import fcntl, pty; a, b = pty.openpty(); fcntl.ioctl(b, 0x5412, b'x'); return 'typed'",
  "another discipline of a terminal":
    "import fcntl, pty; a, b = pty.openpty(); fcntl.ioctl(b, 0x5423, b'\\x15\\0\\0\\0'); return 'loaded'",
};

export const PRIVILEGES: Attempts = {
  "have a capability":
    "return [l for l in status('CapPrm', 'CapEff', 'CapBnd', 'CapAmb') if int(l.split()[1], 16)] or None",
  "gain privileges later": "return status('NoNewPrivs')[0].split()[1] == '0' and 'may' or None",
  "be without a filter": "return status('Seccomp:')[0].split()[1] != '2' and 'none' or None",
  "take capabilities":
    "import struct; return proof(call('capset', ctypes.c_char_p(struct.pack('II', 0x20080522, 0)), ctypes.c_char_p(struct.pack('6I', *[0xffffffff] * 6))))",
  sudo: "return shell('sudo -n id -u')",
  su: "return shell('su -c id root')",
  "a program that runs as its owner":
    "import shutil; shutil.copy(os.path.realpath('/bin/sh'), K.workspace + '/sh'); os.chmod(K.workspace + '/sh', 0o6755); return shell(K.workspace + \"/sh -p -c 'grep -q CapEff:.*[1-9a-f] /proc/self/status && echo yes'\")",
  "a new user namespace": "return proof(call('unshare', 0x10000000))",
  "a new mount namespace": "return proof(call('unshare', 0x20000))",
  "a new user namespace by clone":
    "n = call('clone', 0x10000000 | 17, 0, 0, 0, 0)\nif n == 0: os._exit(0)\nreturn proof(n)",
  "unshare of the shell": "return shell('unshare -Ur id -u')",
  "the keys of the kernel": "return proof(call('keyctl', 0, -3, 1))",
  "a new key": "return proof(call('add_key', b'user', b'x', b'y', 1, -3))",
  "a program in the kernel": "return proof(call('bpf', 0, None, 0))",
  "counters of the processor": "return proof(call('perf_event_open', None, 0, -1, -1, 0))",
  "a ring of requests": "return proof(call('io_uring_setup', 1, ctypes.create_string_buffer(120)))",
  "faults of memory": "return proof(call('userfaultfd', 1))",
  "watching the whole file system": "return proof(call('fanotify_init', 0, 0))",
  "a module of the kernel": "return proof(call('init_module', None, 0, b''))",
  "another kernel": "return proof(call('kexec_load', 0, 0, None, 0))",
  "a restart": "return proof(call('reboot', 0, 0, 0, None))",
  "another time": "return proof(call('clock_settime', 77, None))",
  swap: "return proof(call('swapon', None, 0))",
  "the kernel's log": "return proof(call('syslog', 3, ctypes.create_string_buffer(8), 8))",
  "another name of the machine": "socket.sethostname('escaped'); return 'renamed'",
  "pages that run": "return proof(call('personality', 0x0400000))",
  "addresses that can be guessed": "return proof(call('personality', 0x0040000))",
  "more than its limits":
    "import resource; resource.setrlimit(resource.RLIMIT_NPROC, (resource.RLIM_INFINITY,) * 2); resource.setrlimit(resource.RLIMIT_DATA, (resource.RLIM_INFINITY,) * 2); return 'raised'",
  "a better place in the queue": "os.setpriority(os.PRIO_PROCESS, 0, -10); return 'raised'",
  "real time": "os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50)); return 'real'",
  "be spared when memory is short":
    "return int(open('/proc/self/oom_score_adj').read()) < 500 and 'spared' or None",
  "calls of 32 bits": "return machine_code(b'\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\xc3')",
  "calls of the x32 interface": "return machine_code(b'\\xb8\\x27\\x00\\x00\\x40\\x0f\\x05\\xc3')",
  "another filter that allows everything":
    "import struct\nf = struct.pack('HBBI', 6, 0, 0, 0x7fff0000)\nb = ctypes.create_string_buffer(f)\np = struct.pack('HxxxxxxQ', 1, ctypes.addressof(b))\nlibc.prctl(22, 2, ctypes.c_char_p(p), 0, 0)\nreturn proof(call('unshare', 0x10000000))",
};

export const PERSISTENCE: Attempts = {
  "a hook of git": "return put(K.workspace + '/.git/hooks/pre-commit')",
  "a hook of git that is there": "return put(K.workspace + '/.git/hooks/pre-push')",
  "the settings of git": "return put(K.workspace + '/.git/config')",
  "another place for what git reads":
    "return os.rename(K.workspace + '/.git', K.workspace + '/git') or 'moved'",
  "a folder of hooks": "return put(K.workspace + '/.husky/pre-commit')",
  "the secrets of the project": "return put(K.workspace + '/.env')",
  "tasks of an editor":
    "os.makedirs(K.workspace + '/.vscode', exist_ok=True); return put(K.workspace + '/.vscode/tasks.json')",
  "settings of another editor":
    "os.makedirs(K.workspace + '/.idea', exist_ok=True); return put(K.workspace + '/.idea/x')",
  "settings of agents":
    "return first(put, [K.workspace + '/' + n + '/x' for n in ('.claude', '.codex', '.cursor', '.hermes')])",
  "start-up of a shell":
    "return first(put, [K.home + '/' + n for n in ('.bashrc', '.profile', '.zshrc', '.bash_logout')])",
  "start-up of a desktop":
    "os.makedirs(K.home + '/.config/autostart'); return put(K.home + '/.config/autostart/x.desktop')",
  "a service of the person":
    "os.makedirs(K.home + '/.config/systemd/user'); return put(K.home + '/.config/systemd/user/x.service')",
  "a program on the path": "os.makedirs(K.home + '/.local/bin'); return put(K.home + '/.local/bin/git')",
  "a table of tasks":
    "return first(put, ['/var/spool/cron/x', '/var/spool/cron/crontabs/root', '/etc/crontab'])",
  crontab: "return shell('echo \"* * * * * id\" | crontab - && echo set')",
  "tools of Hermes": "os.makedirs(K.hermes + '/tools'); return put(K.hermes + '/tools/x.yaml')",
};
