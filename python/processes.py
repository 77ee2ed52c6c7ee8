"""What the fork server and its guardians do with processes."""
import os
import signal
import socket

PR_SET_CHILD_SUBREAPER = 36

try:
    import ctypes

    LIBC = ctypes.CDLL(None, use_errno=True)
except (ImportError, OSError):
    LIBC = None


def adopt_orphans():
    """Linux only: processes whose parent ended become ours. Elsewhere the process group is all there is."""
    if LIBC is not None and hasattr(LIBC, "prctl"):
        LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def wake_on_child_end():
    """A socket that becomes readable when a child has ended."""
    ours, theirs = socket.socketpair()
    for end in (ours, theirs):
        end.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(theirs.detach(), warn_on_full_buffer=False)
    return ours


def drain(wake):
    try:
        while wake.recv(4096):
            pass
    except BlockingIOError:
        pass


def has_ended(pid):
    """Without taking its number away."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def reap_all_but(pid):
    for child in children():
        if child != pid:
            try:
                os.waitpid(child, os.WNOHANG)
            except ChildProcessError:
                pass  # it is gone


def children():
    """Numbers of our own children; none where the system does not tell."""
    try:
        with open("/proc/self/task/%d/children" % os.getpid()) as file:
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return children_by_parent()


def children_by_parent():
    own = os.getpid()
    found = []
    try:
        names = os.listdir("/proc")
    except OSError:
        return found
    for name in names:
        if not name.isdigit():
            continue
        try:
            with open("/proc/%s/stat" % name) as file:
                text = file.read()
        except OSError:
            continue
        if int(text[text.rindex(")") + 2 :].split()[1]) == own:
            found.append(int(name))
    return found


def kill(pid, number):
    try:
        os.kill(pid, number)
    except OSError:
        pass  # it is gone


def kill_group(leader, number):
    try:
        os.killpg(leader, number)
    except OSError:
        pass  # all are gone
