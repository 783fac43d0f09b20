"""Coroutines, which the analyzer runs where they are called."""


def run(main, *, debug=None):
    return main


def gather(*coros_or_futures, return_exceptions=False):
    return list(coros_or_futures)


def create_task(coro, *, name=None):
    return coro


def ensure_future(coro_or_future, *, loop=None):
    return coro_or_future


def wait_for(fut, timeout):
    return fut


def to_thread(func, /, *args, **kwargs):
    return func(*args, **kwargs)
