"""Warm Python for steps: one process that has everything imported, and a fork of it for each call.

  noetl-cp ──one socket per call──▶ guardian ──fork──▶ leader (a session of its own, runs the code of one call)
                                       ▲
                fork server ──fork─────┘   keeps a few guardians waiting, each with its leader, so that a call costs no fork

Whoever of the waiting guardians takes a connection owns that call, see guardian.py. State never passes from one call to the
next: a leader runs one call, and neither the fork server nor a guardian ever runs code of a step.
The fork server ends when its input does, and waiting guardians with it. Guardians that own a call end when the socket
of their call does. So nothing outlives noetl-cp, however it ends.
"""
import gc
import os
import selectors
import signal
import socket
import struct
import sys
import time

# An isolated Python does not look beside its script.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import guardian  # noqa: E402
import processes  # noqa: E402

sys.path.pop(0)

# A guardian's number, and whether it waits for a call (1) or owns one (0).
NOTE = struct.Struct("=ib")


def main(path, waiting):
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(path)
    listener.listen(1024)
    listener.setblocking(False)
    processes.adopt_orphans()
    gc.collect()
    gc.freeze()
    ForkServer(listener, waiting).serve()


class ForkServer:
    def __init__(self, listener, waiting):
        self.listener = listener
        self.waiting_wanted = waiting
        self.waiting = set()
        self.owning = set()
        self.wake = processes.wake_on_child_end()
        self.notes_out, self.notes_in = os.pipe()
        # Nobody writes into it: its end tells waiting guardians that we are gone.
        self.life_out, self.life_in = os.pipe()
        self.ended = False

    def serve(self):
        self.fill()
        os.write(1, b"ready\n")
        with selectors.DefaultSelector() as selector:
            selector.register(0, selectors.EVENT_READ, self.end)
            selector.register(self.wake, selectors.EVENT_READ, self.reap)
            selector.register(self.notes_out, selectors.EVENT_READ, self.read_notes)
            while not self.ended:
                for key, _ in selector.select():
                    key.data()

    def end(self):
        self.ended = os.read(0, 4096) == b""

    def fill(self):
        while len(self.waiting) < self.waiting_wanted:
            pid = os.fork()
            if pid == 0:
                try:
                    signal.set_wakeup_fd(-1)
                    self.wake.close()
                    os.close(self.notes_out)
                    os.close(self.life_in)
                    guardian.Guardian(self.listener, self.life_out, self.note).serve()
                finally:
                    os._exit(70)
            self.waiting.add(pid)

    def note(self, waits):
        """In a guardian."""
        os.write(self.notes_in, NOTE.pack(os.getpid(), waits))

    def read_notes(self):
        for pid, waits in NOTE.iter_unpack(os.read(self.notes_out, NOTE.size * 512)):
            known = pid in self.waiting or pid in self.owning
            if not known:
                continue
            self.waiting.discard(pid)
            self.owning.discard(pid)
            (self.waiting if waits else self.owning).add(pid)
            # It ends when it owns no call.
            if waits and len(self.waiting) > self.waiting_wanted:
                self.waiting.discard(pid)
                self.owning.add(pid)
                processes.kill(pid, signal.SIGTERM)
        self.fill()

    def reap(self):
        processes.drain(self.wake)
        lost = False
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            lost = lost or status != 0
            self.owning.discard(pid)
            if pid in self.waiting:
                self.waiting.discard(pid)
                # Never as fast as it can: whatever killed it may kill the next one too.
                time.sleep(0.05)
        if lost:
            self.kill_strays()
        self.fill()

    def kill_strays(self):
        """A guardian that did not end by itself left its processes to us."""
        for pid in processes.children():
            if pid not in self.waiting and pid not in self.owning:
                processes.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
