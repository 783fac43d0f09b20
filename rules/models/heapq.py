"""Heaps, as lists that are sorted."""


def heappush(heap, item):
    heap.append(item)
    heap.sort()


def heappop(heap):
    return heap.pop(0)


def heapify(heap):
    heap.sort()


def heappushpop(heap, item):
    heap.append(item)
    heap.sort()
    return heap.pop(0)


def heapreplace(heap, item):
    least = heap.pop(0)
    heap.append(item)
    heap.sort()
    return least


def nlargest(n, iterable, key=None):
    return sorted(iterable, key=key, reverse=True)[:n]


def nsmallest(n, iterable, key=None):
    return sorted(iterable, key=key)[:n]
