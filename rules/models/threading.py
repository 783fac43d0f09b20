"""Threads, which the analyzer runs when they are started."""


class Thread:
    def __init__(self, group=None, target=None, name=None, args=(), kwargs=None, *, daemon=None):
        self.name, self.daemon = name, daemon
        self._target, self._args, self._kwargs = target, args, kwargs

    def start(self):
        self.run()

    def run(self):
        if self._target is not None:
            self._target(*self._args, **(self._kwargs or {}))

    def join(self, timeout=None):
        pass

    def is_alive(self):
        return False
