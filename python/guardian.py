"""Owns the processes of one call. Its leader waits beside it, already forked, until a call comes in.

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


def guard(listener, life, say_taken):
    processes.adopt_orphans()
    wake = processes.wake_on_child_end()
    ours, theirs = socket.socketpair()
    output, output_in = os.pipe()
    errors, errors_in = os.pipe()
    leader = os.fork()
    if leader == 0:
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for part in (listener, wake, ours):
                part.close()
            for descriptor in (output, errors, life):
                os.close(descriptor)
            run_code.run(theirs, output_in, errors_in)
        finally:
            os._exit(70)
    theirs.close()
    os.close(output_in)
    os.close(errors_in)
    connection = wait_for_call(listener, life, wake, leader)
    if connection is None:
        finish(leader)
        os._exit(0)
    say_taken()
    listener.close()
    quiet = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(quiet, descriptor)
    Guardian(connection, leader, wake, ours, output, errors).own()


def wait_for_call(listener, life, wake, leader):
    """None when there will be none: the fork server is gone, or the leader."""
    with selectors.DefaultSelector() as selector:
        for source in (listener, life, wake):
            selector.register(source, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj is not listener:
                    return None
                try:
                    connection, _ = listener.accept()
                except OSError:
                    continue  # another guardian was quicker
                connection.setblocking(True)
                return connection


class Guardian:
    def __init__(self, connection, leader, wake, data, output, errors):
        self.connection = connection
        self.leader = leader
        self.wake = wake
        self.data = data
        self.outputs = {output: b"o", errors: b"e"}
        # Bytes of the request that are still to come; the length itself first.
        self.length = b""
        self.missing = None
        self.selector = selectors.DefaultSelector()
        self.killed = False

    def own(self):
        self.send(b"b", b"")
        self.selector.register(self.connection, selectors.EVENT_READ, self.hear)
        self.selector.register(self.wake, selectors.EVENT_READ, self.child_ended)
        self.selector.register(self.data, selectors.EVENT_READ, self.forward_answer)
        for output in self.outputs:
            self.selector.register(output, selectors.EVENT_READ, self.forward_output)
        while not self.killed and not processes.has_ended(self.leader):
            self.step(None)
        status = finish(self.leader)
        # What is still in the pipes; all their writers are gone.
        while len(self.selector.get_map()) > 2 and self.step(0):
            pass
        self.send(b"x", b"%d" % status)
        os._exit(0)

    def step(self, timeout):
        ready = self.selector.select(timeout)
        for key, _ in ready:
            key.data(key.fileobj)
        return len(ready) > 0

    def hear(self, connection):
        piece = connection.recv(PIECE)
        if piece == b"":
            self.selector.unregister(connection)
            self.kill_now()
            return
        rest = self.take_request(piece)
        if b"K" in rest:
            self.kill_now()
        elif b"T" in rest:
            processes.kill_group(self.leader, signal.SIGTERM)

    def take_request(self, piece):
        """Hands the request on as it comes; answers what follows it."""
        if self.missing is None:
            wanted = 8 - len(self.length)
            self.length += piece[:wanted]
            piece = piece[wanted:]
            if len(self.length) < 8:
                return b""
            (self.missing,) = struct.unpack(">Q", self.length)
            self.to_leader(self.length)
        if self.missing > 0 and piece:
            part = piece[: self.missing]
            self.missing -= len(part)
            self.to_leader(part)
            return piece[len(part) :]
        return piece

    def to_leader(self, piece):
        try:
            self.data.sendall(piece)
        except OSError:
            pass  # it is gone, which will be noticed

    def kill_now(self):
        self.killed = True
        processes.kill_group(self.leader, signal.SIGKILL)
        processes.kill(self.leader, signal.SIGKILL)

    def child_ended(self, wake):
        processes.drain(wake)
        processes.reap_all_but(self.leader)

    def forward_answer(self, data):
        try:
            piece = data.recv(PIECE)
        except OSError:
            piece = b""
        self.forward(data, b"a", piece)

    def forward_output(self, output):
        self.forward(output, self.outputs[output], os.read(output, PIECE))

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
        for pid in others:
            processes.kill(pid, signal.SIGKILL)
        processes.reap_all_but(leader)
        if not others and (processes.has_ended(leader) or time.monotonic() > until):
            break
        if time.monotonic() > until:
            break
        time.sleep(0.001)
        processes.kill(leader, signal.SIGKILL)
    return os.waitpid(leader, 0)[1]
