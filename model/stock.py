"""A SimPy container that can give and take at once."""

from simpy import Container, Environment


class Stock(Container):
    """A container of integers whose holders check first and never queue.

    `get` and `put` work as in any container. `take` and `give` do the same to the
    level without an event, which in our simulation nobody would wait for; whoever
    does wait in `get` is served by what is given.

    >>> env = Environment()
    >>> stock = Stock(env, 1000)
    >>> stock.take(400)
    >>> waits = stock.get(700)
    >>> stock.level, waits.triggered
    (600, False)
    >>> stock.give(400)
    >>> stock.level, waits.triggered
    (300, True)
    """

    def __init__(self, env: Environment, amount: int) -> None:
        """Make a full container; one of nothing still needs a positive capacity."""
        super().__init__(env, capacity=max(amount, 1), init=amount)

    def take(self, amount: int) -> None:
        """Take *amount* now; raise ValueError if there is less."""
        if amount > self._level:
            raise ValueError(f"cannot take {amount}, the level is {self._level}")
        self._level -= amount

    def give(self, amount: int) -> None:
        """Give *amount* back now; raise ValueError if there is no room for it."""
        if self._level + amount > self._capacity:
            raise ValueError(
                f"cannot give {amount}, the level is {self._level} of {self.capacity}"
            )
        self._level += amount
        if self.get_queue:
            self._trigger_get(None)
