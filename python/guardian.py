"""Owns the processes of one call after the other. The leader of the next call waits beside it, already forked.

In, on the call's socket: the request (eight bytes of length, JSON), then T to end the call gently or K at once. The end
of the socket means K. Out: frames of a letter, four bytes of length and the rest.
  b  the call has begun       o, e  output, errors       a  a piece of the answer       x  wait status; the last frame
When the leader has ended, everything that it left behind is killed before the last frame, also what made itself a
session of its own: orphans fall to the guardian.
"""
import os
import selectors
import signal
import socket
import struct
import time

import processes
import run_code

PIECE = 1 << 16
SWEEP_SECONDS = 10
# Then a fresh one takes over.
CALLS_MAX = 1000


class Guardian:
    def __init__(self, listener, life, note):
        self.listener = listener
        self.life = life
        self.note = note
        self.leaves = False

    def serve(self):
        processes.adopt_orphans()
        wake = processes.wake_on_child_end()
        # Asked to leave: between two calls, never in the middle of one.
        signal.signal(signal.SIGTERM, self.leave)
        quiet = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(quiet, descriptor)
        os.close(quiet)
        for _ in range(CALLS_MAX):
            leader = Leader(self, wake)
            connection = self.wait_for_call(wake, leader)
            if connection is None:
                break
            self.note(0)
            Call(connection, leader, wake).own()
            if self.leaves:
                os._exit(0)
            self.note(1)
        else:
            os._exit(0)
        finish(leader.pid)
        os._exit(0)

    def leave(self, number, frame):
        self.leaves = True

    def wait_for_call(self, wake, leader):
        """None when there will be none: the fork server is gone, or the leader, or we were asked to leave."""
        with selectors.DefaultSelector() as selector:
            for source in (self.listener, self.life, wake):
                selector.register(source, selectors.EVENT_READ)
            while not self.leaves:
                for key, _ in selector.select():
                    if key.fileobj is wake:
                        processes.drain(wake)
                        if processes.has_ended(leader.pid):
                            return None
                    elif key.fileobj is not self.listener:
                        return None
                    else:
                        try:
                            connection, _ = self.listener.accept()
                        except OSError:
                            continue  # another guardian was quicker
                        connection.setblocking(True)
                        return connection
        return None


class Leader:
    """The process of the next call, forked ahead, and our ends of what connects us with it."""

    def __init__(self, guardian, wake):
        self.data, theirs = socket.socketpair()
        self.output, output_in = os.pipe()
        self.errors, errors_in = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                signal.set_wakeup_fd(-1)
                for number in (signal.SIGCHLD, signal.SIGTERM):
                    signal.signal(number, signal.SIG_DFL)
                for part in (guardian.listener, wake, self.data):
                    part.close()
                for descriptor in (self.output, self.errors, guardian.life):
                    os.close(descriptor)
                run_code.run(theirs, output_in, errors_in)
            finally:
                os._exit(70)
        theirs.close()
        os.close(output_in)
        os.close(errors_in)

    def close(self):
        self.data.close()
        os.close(self.output)
        os.close(self.errors)


class Call:
    def __init__(self, connection, leader, wake):
        self.connection = connection
        self.leader = leader
        self.wake = wake
        self.letters = {leader.output: b"o", leader.errors: b"e"}
        # Bytes of the request that are still to come; the length itself first.
        self.length = b""
        self.missing = None
        self.selector = selectors.DefaultSelector()
        self.killed = False

    def own(self):
        self.send(b"b", b"")
        self.selector.register(self.connection, selectors.EVENT_READ, self.hear)
        self.selector.register(self.wake, selectors.EVENT_READ, self.child_ended)
        sources = (self.leader.data, self.leader.output, self.leader.errors)
        for source, forward in zip(sources, (self.forward_answer, self.forward_output, self.forward_output)):
            self.selector.register(source, selectors.EVENT_READ, forward)
        while not self.killed and not processes.has_ended(self.leader.pid):
            self.step(None)
        status = finish(self.leader.pid)
        # What is still in the pipes; all their writers are gone.
        while self.step(0):
            pass
        self.send(b"x", b"%d" % status)
        self.selector.close()
        self.connection.close()
        self.leader.close()

    def step(self, timeout):
        """Whether anything of the leader came."""
        came = False
        for key, _ in self.selector.select(timeout):
            key.data(key.fileobj)
            came = came or key.fileobj not in (self.connection, self.wake)
        return came

    def hear(self, connection):
        try:
            piece = connection.recv(PIECE)
        except OSError:
            piece = b""
        if piece == b"":
            self.selector.unregister(connection)
            self.kill_now()
            return
        rest = self.take_request(piece)
        if b"K" in rest:
            self.kill_now()
        elif b"T" in rest:
            processes.kill_group(self.leader.pid, signal.SIGTERM)

    def take_request(self, piece):
        """Hands the request on as it comes; answers what follows it."""
        if self.missing is None:
            wanted = 8 - len(self.length)
            self.length += piece[:wanted]
            piece = piece[wanted:]
            if len(self.length) < 8:
                return b""
            (self.missing,) = struct.unpack(">Q", self.length)
            piece = self.length + piece
            self.missing += 8
        part = piece[: self.missing]
        self.missing -= len(part)
        if part:
            self.to_leader(part)
        return piece[len(part) :]

    def to_leader(self, piece):
        try:
            self.leader.data.sendall(piece)
        except OSError:
            pass  # it is gone, which will be noticed

    def kill_now(self):
        self.killed = True
        processes.kill_group(self.leader.pid, signal.SIGKILL)
        processes.kill(self.leader.pid, signal.SIGKILL)

    def child_ended(self, wake):
        processes.drain(wake)
        processes.reap_all_but(self.leader.pid)

    def forward_answer(self, data):
        try:
            piece = data.recv(PIECE)
        except OSError:
            piece = b""
        self.forward(data, b"a", piece)

    def forward_output(self, output):
        self.forward(output, self.letters[output], os.read(output, PIECE))

    def forward(self, source, letter, piece):
        if piece == b"":
            self.selector.unregister(source)
        else:
            self.send(letter, piece)

    def send(self, letter, piece):
        try:
            self.connection.sendall(letter + struct.pack(">I", len(piece)) + piece)
        except OSError:
            pass  # nobody is left to be told


def finish(leader):
    """Kills what is left of the call and answers the leader's wait status. The leader's number stays taken until the
    end, so that signals to its group reach nobody else."""
    until = time.monotonic() + SWEEP_SECONDS
    while True:
        processes.kill_group(leader, signal.SIGKILL)
        others = [pid for pid in processes.children() if pid != leader]
        if not others and processes.has_ended(leader):
            break
        for pid in others:
            processes.kill(pid, signal.SIGKILL)
        processes.kill(leader, signal.SIGKILL)
        processes.reap_all_but(leader)
        if time.monotonic() > until:
            break
        time.sleep(0.001)
    return os.waitpid(leader, 0)[1]
