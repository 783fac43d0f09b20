"""Threads that run functions, one after the other as far as values are concerned."""


class Future:
    def __init__(self, made=None):
        self._made = made

    def result(self, timeout=None):
        return self._made

    def exception(self, timeout=None):
        return None

    def done(self):
        return True

    def add_done_callback(self, fn):
        fn(self)


class ThreadPoolExecutor:
    def __init__(self, max_workers=None, thread_name_prefix="", initializer=None, initargs=()):
        pass

    def submit(self, fn, /, *args, **kwargs):
        return Future(fn(*args, **kwargs))

    def map(self, fn, *iterables, timeout=None, chunksize=1):
        return [fn(*row) for row in zip(*iterables)]

    def shutdown(self, wait=True, *, cancel_futures=False):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


def as_completed(fs, timeout=None):
    return list(fs)
