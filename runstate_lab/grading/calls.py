"""Grading. Every system call of x86_64 Linux, decided one by one.

A worker may make the calls of `ALLOWED`, and those of `guards` for some values
of an argument; the rest is refused. What is refused is written out too, by what
it would open, so that a call that nobody thought of is missed by a test.

The tables hold what CPython and glibc (also musl) call for an answer of plain
Python: files, memory, threads, event loops, clocks. What a call does to the
worker alone is allowed where Python needs it; what it does to others is not.

What is not here: the filter that the kernel runs (see `confine`).
"""

from __future__ import annotations

from dataclasses import dataclass

NEWEST_KNOWN = 470
NO_CALLS = range(335, 424)  # but for the kernel's own trampolines, which it lets no filter see
NUMBERS = (*range(NO_CALLS.start), *range(NO_CALLS.stop, NEWEST_KNOWN + 1))


def _calls(text: str) -> dict[str, int]:
    words = text.split()
    return dict(zip(words[::2], map(int, words[1::2]), strict=True))


# Landlock decides which files; reading metadata is the one thing that it lets pass.
ALLOWED = {
    "reading and writing what is open": _calls("""
        read 0 write 1 close 3 fstat 5 lseek 8 pread64 17 pwrite64 18 readv 19 writev 20
        preadv 295 pwritev 296 preadv2 327 pwritev2 328 dup 32 dup2 33 dup3 292 close_range 436
    """),
    "opening and looking, as importing does": _calls("""
        open 2 openat 257 stat 4 lstat 6 newfstatat 262 statx 332 access 21 faccessat 269
        faccessat2 439 readlink 89 readlinkat 267 getdents 78 getdents64 217 getcwd 79
        chdir 80 fchdir 81
    """),
    "its own memory": _calls("mmap 9 mprotect 10 munmap 11 brk 12 mremap 25 msync 26"),
    "threads and their end": _calls("""
        futex 202 set_robust_list 273 set_tid_address 218 rseq 334 sched_yield 24
        sched_getaffinity 204 getcpu 309 exit 60 exit_group 231 wait4 61 restart_syscall 219
    """),
    "its own signals": _calls("""
        rt_sigaction 13 rt_sigprocmask 14 rt_sigreturn 15 rt_sigpending 127 rt_sigtimedwait 128
        rt_sigsuspend 130 sigaltstack 131 pause 34 alarm 37 getitimer 36 setitimer 38
    """),
    "event loops": _calls("""
        poll 7 ppoll 271 select 23 pselect6 270 epoll_create 213 epoll_create1 291 epoll_ctl 233
        epoll_wait 232 epoll_pwait 281 epoll_pwait2 441 eventfd 284 eventfd2 290 pipe 22
        pipe2 293 recvfrom 45 shutdown 48 getsockname 51 getpeername 52 getsockopt 55
    """),
    "time and chance": _calls("nanosleep 35 gettimeofday 96 time 201 times 100 getrandom 318"),
    "who and where it is": _calls("""
        getpid 39 gettid 186 getppid 110 getpgrp 111 getuid 102 getgid 104 geteuid 107
        getegid 108 getresuid 118 getresgid 120 getgroups 115 capget 125 getrlimit 97
        getrusage 98 sysinfo 99 uname 63
    """),
}
# Without a folder to write in none of these is of use; fsync stalls a disk, and
# flock holds files that others read.
IN_SCRATCH = _calls("""
    creat 85 mkdir 83 mkdirat 258 rmdir 84 rename 82 renameat 264 renameat2 316 unlink 87
    unlinkat 263 ftruncate 77 fallocate 285 fsync 74 fdatasync 75 umask 95 flock 73
""")

# Said not to exist, so that the C library takes the older way. clone3 hides its
# flags behind a pointer; the others are too new for a library to rely on.
ABSENT = _calls("""
    clone3 435 futex_waitv 449 map_shadow_stack 453 futex_wake 454 futex_wait 455
    futex_requeue 456 mseal 462
""")

REFUSED = {
    "programs and processes": _calls("""
        fork 57 vfork 58 execve 59 execveat 322 uselib 134 setsid 112 setpgid 109 waitid 247
    """),
    "other processes": _calls("""
        kill 62 tkill 200 rt_sigqueueinfo 129 rt_tgsigqueueinfo 297 pidfd_send_signal 424
        pidfd_open 434 pidfd_getfd 438 ptrace 101 process_vm_readv 310 process_vm_writev 311
        process_madvise 440 process_mrelease 448 kcmp 312 get_robust_list 274 migrate_pages 256
        move_pages 279
    """),
    "limits and priorities": _calls("""
        setrlimit 160 getpriority 140 setpriority 141 ioprio_set 251 ioprio_get 252
        sched_setparam 142 sched_getparam 143 sched_setscheduler 144 sched_getscheduler 145
        sched_get_priority_max 146 sched_get_priority_min 147 sched_rr_get_interval 148
        sched_setaffinity 203 sched_setattr 314 sched_getattr 315
    """),
    "signals that stop, and timers that send them": _calls("""
        timer_create 222 timer_settime 223 timer_gettime 224 timer_getoverrun 225 timer_delete 226
        timerfd_create 283 timerfd_settime 286 timerfd_gettime 287 signalfd 282 signalfd4 289
    """),
    "another identity": _calls("""
        setuid 105 setgid 106 setreuid 113 setregid 114 setgroups 116 setresuid 117 setresgid 119
        setfsuid 122 setfsgid 123 capset 126 personality 135
    """),
    "network and sockets by path": _calls("""
        socket 41 connect 42 accept 43 accept4 288 bind 49 listen 50 sendmsg 46 sendmmsg 307
        recvmsg 47 recvmmsg 299 setsockopt 54
    """),
    "memory by number or by name": _calls("""
        shmget 29 shmat 30 shmctl 31 shmdt 67 semget 64 semop 65 semctl 66 semtimedop 220
        msgget 68 msgsnd 69 msgrcv 70 msgctl 71 mq_open 240 mq_unlink 241 mq_timedsend 242
        mq_timedreceive 243 mq_notify 244 mq_getsetattr 245
    """),
    "memory beyond the limit": _calls("""
        memfd_create 319 memfd_secret 447 userfaultfd 323 mlock 149 munlock 150 mlockall 151
        munlockall 152 mlock2 325 vmsplice 278 splice 275 tee 276 remap_file_pages 216 mbind 237
        set_mempolicy 238 get_mempolicy 239 set_mempolicy_home_node 450 pkey_mprotect 329
        pkey_alloc 330 pkey_free 331
    """),
    "files past Landlock": _calls("""
        truncate 76 chmod 90 fchmod 91 fchmodat 268 fchmodat2 452 chown 92 fchown 93 lchown 94
        fchownat 260 utime 132 utimes 235 futimesat 261 utimensat 280 setxattr 188 lsetxattr 189
        fsetxattr 190 setxattrat 463 getxattr 191 lgetxattr 192 fgetxattr 193 getxattrat 464
        listxattr 194 llistxattr 195 flistxattr 196 listxattrat 465 removexattr 197
        lremovexattr 198 fremovexattr 199 removexattrat 466 file_getattr 468 file_setattr 469
        name_to_handle_at 303 open_by_handle_at 304 openat2 437 link 86 linkat 265 symlink 88
        symlinkat 266 mknod 133 mknodat 259 sendfile 40 copy_file_range 326
    """),
    "news of others' files": _calls("""
        inotify_init 253 inotify_init1 294 inotify_add_watch 254 inotify_rm_watch 255
        fanotify_init 300 fanotify_mark 301 lookup_dcookie 212
    """),
    "disks, caches and processors of all": _calls("""
        sync 162 syncfs 306 sync_file_range 277 fadvise64 221 readahead 187 mincore 27
        cachestat 451 membarrier 324 statfs 137 fstatfs 138 ustat 136 sysfs 139 quotactl 179
        quotactl_fd 443 io_setup 206 io_destroy 207 io_getevents 208 io_submit 209 io_cancel 210
        io_pgetevents 333 io_uring_setup 425 io_uring_enter 426 io_uring_register 427
    """),
    "mounts and namespaces": _calls("""
        mount 165 umount2 166 pivot_root 155 chroot 161 unshare 272 setns 308 open_tree 428
        open_tree_attr 467 move_mount 429 fsopen 430 fsconfig 431 fsmount 432 fspick 433
        mount_setattr 442 statmount 457 listmount 458 listns 470
    """),
    "walls of its own": _calls("""
        seccomp 317 landlock_create_ruleset 444 landlock_add_rule 445 landlock_restrict_self 446
        lsm_get_self_attr 459 lsm_set_self_attr 460 lsm_list_modules 461
    """),
    "the machine": _calls("""
        bpf 321 perf_event_open 298 keyctl 250 add_key 248 request_key 249 init_module 175
        finit_module 313 delete_module 176 kexec_load 246 kexec_file_load 320 reboot 169
        swapon 167 swapoff 168 syslog 103 acct 163 settimeofday 164 clock_settime 227
        clock_adjtime 305 adjtimex 159 sethostname 170 setdomainname 171 iopl 172 ioperm 173
        vhangup 153 modify_ldt 154 arch_prctl 158 set_thread_area 205 get_thread_area 211
    """),
    "calls that no kernel answers any more": _calls("""
        _sysctl 156 create_module 174 get_kernel_syms 177 query_module 178 nfsservctl 180
        getpmsg 181 putpmsg 182 afs_syscall 183 tuxcall 184 security 185 epoll_ctl_old 214
        epoll_wait_old 215 vserver 236
    """),
}

# dup, close-on-exec and the flags of a description that is open already. Not
# owners (signals to others), leases, seals, notices, or the size of a pipe.
FCNTL = (0, 1, 2, 3, 4, 1030)
FCNTL_IN_SCRATCH = (5, 6, 7)  # sqlite3 locks its own file with them
# isatty in both its spellings, the window's size, bytes to read, close-on-exec,
# non-blocking: no inode flags, no clones of files, no typing into a terminal.
IOCTL = (0x5401, 0x802C542A, 0x5413, 0x541B, 0x5450, 0x5451, 0x5421)
PRCTL = (15, 16)  # the name of a thread
# What a thread is made with in glibc, and in musl; each other set is a process.
THREAD = (0x003D0F00, 0x007D0F00)
# malloc and thread stacks; not pushing pages out that others read, nor poisoning them.
ADVICE = (0, 1, 2, 3, 4, 8, 14, 15, 16, 17, 102, 103)
CLOCKS = (*range(8), 11)  # a negative number is the clock of another process
STOPPING = (19, 20, 21, 22)  # a stopped worker uses no time and never answers
LOCAL = 1


@dataclass(frozen=True)
class Guard:
    """A call that is allowed for some values of one argument; `wide` is all 64 bits."""

    name: str
    number: int
    argument: int
    only: tuple[int, ...] = ()
    never: tuple[int, ...] = ()
    wide: bool = False


def guards(process: int, scratch: bool) -> tuple[Guard, ...]:
    """The calls that are half allowed; all the guards of one call must agree.

    >>> sorted({guard.name for guard in guards(1, False)})[:3]
    ['clock_getres', 'clock_gettime', 'clock_nanosleep']
    """
    locks = FCNTL_IN_SCRATCH if scratch else ()
    return (
        Guard("tgkill", 234, 0, only=(process,)),  # abort() and raise() use it on themselves
        Guard("tgkill", 234, 2, never=STOPPING),
        Guard("prlimit64", 302, 0, only=(0,)),
        Guard("prlimit64", 302, 2, only=(0,), wide=True),  # asking, never setting
        Guard("fcntl", 72, 1, only=FCNTL + locks),
        Guard("ioctl", 16, 1, only=IOCTL),
        Guard("prctl", 157, 0, only=PRCTL),
        Guard("clone", 56, 0, only=THREAD),
        Guard("madvise", 28, 2, only=ADVICE),
        Guard("socketpair", 53, 0, only=(LOCAL,)),
        Guard("sendto", 44, 4, only=(0,), wide=True),  # to its pair, never to an address
        Guard("getpgid", 121, 0, only=(0,)),
        Guard("getsid", 124, 0, only=(0,)),
        Guard("clock_gettime", 228, 0, only=CLOCKS),
        Guard("clock_getres", 229, 0, only=CLOCKS),
        Guard("clock_nanosleep", 230, 0, only=CLOCKS),
    )


def allowed(scratch: bool) -> frozenset[int]:
    """The numbers of the calls that are allowed whatever their arguments.

    >>> len(allowed(True)) - len(allowed(False))
    15
    """
    everywhere = {number for group in ALLOWED.values() for number in group.values()}
    return frozenset(everywhere | set(IN_SCRATCH.values()) if scratch else everywhere)
