"""A heap of numbers, each with a value, in two arrays: the least first; compiled."""

from model.capacity import Ints
from schedulers.drr.compiled import compiled
from schedulers.drr.state import Floats


@compiled
def push(keys: Floats, values: Ints, size: int, key: float, value: int) -> None:
    """Put a value into the heap, which has room for one more than *size*."""
    place = size
    while place > 0:
        parent = (place - 1) >> 1
        if keys[parent] <= key:
            break
        keys[place], values[place] = keys[parent], values[parent]
        place = parent
    keys[place], values[place] = key, value


@compiled
def pop(keys: Floats, values: Ints, size: int) -> int:
    """Take the least out of the heap; return its new size."""
    size -= 1
    key, value, place = keys[size], values[size], 0
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and keys[child + 1] < keys[child]:
            child += 1
        if keys[child] >= key:
            break
        keys[place], values[place] = keys[child], values[child]
        place = child
    keys[place], values[place] = key, value
    return size
