"""Moments of a launch at which foreign code runs, and what a program wants to happen at them."""
# mypy: ignore-errors

import threading

ERRORS = {
    error.__name__: error
    for error in (
        LookupError,
        KeyboardInterrupt,
        TypeError,
        ValueError,
        AttributeError,
        StopIteration,
        RuntimeError,
        OverflowError,
        SystemError,
        MemoryError,
        GeneratorExit,
    )
}
LONGEST_PAUSE = 20


class Frame:
    """A launch under way in one thread.

    :param during: pairs of a moment and a step, each done once
    :param launched: how many launches the driver has had so far
    """

    def __init__(self, during, launched):
        self.pending, self.launched, self.phase = list(during), launched, ""


class Moments:
    """Tells of what happens and does what a program wants done then. Threads take turns, so the order is always the same."""

    def __init__(self, library):
        self.library, self.log, self.muted = library, [], 0
        self.local = threading.local()

    @property
    def frames(self):
        if not hasattr(self.local, "frames"):
            self.local.frames = []
        return self.local.frames

    def happened(self, name, *details):
        """Note an event, whose order and number are promised."""
        if not self.muted:
            self.log.append([name, *details])
            self.act(name)

    def asked(self, question, name):
        """Note a question to a foreign object, whose number is not promised."""
        if not self.muted and self.frames:
            self.log.append([f"?{question}", name])
            self.act(question)
            self.act(f"{question}{self.phase_of(self.frames[-1])}")

    def phase_of(self, frame):
        if self.library.launch_count > frame.launched:
            return " after the launch"
        return frame.phase

    def act(self, moment):
        frame = self.frames[-1] if self.frames else None
        for item in list(frame.pending) if frame else []:
            if item[0] == moment and item in frame.pending:
                frame.pending.remove(item)
                self.do(item[1])

    def within(self, during, launch):
        """Do a launch; inner ones do not count as its own."""
        frame = Frame(during, self.library.launch_count)
        before = self.library.launch_count
        self.frames.append(frame)
        try:
            return launch()
        finally:
            self.frames.pop()
            if self.frames:
                self.frames[-1].launched += self.library.launch_count - before


class Suspended(threading.Thread):
    """A thread whose launch waits at a moment until it is told to go on."""

    def __init__(self, action):
        super().__init__(daemon=True)
        self.action, self.answer, self.ended = action, None, False
        self.stopped, self.go = threading.Event(), threading.Event()

    def run(self):
        self.answer = self.action()
        self.ended = True
        self.stopped.set()

    def pause(self):
        """Called in this thread: wait."""
        self.stopped.set()
        return self.go.wait(LONGEST_PAUSE)

    def begin(self):
        """Run until the thread waits or ends; tell whether it did in time."""
        self.start()
        return self.stopped.wait(LONGEST_PAUSE)

    def resume(self):
        self.go.set()
        self.join(LONGEST_PAUSE)
        return "still running" if self.is_alive() else self.answer
