"""Slots are handed on by threads, whatever has become of the event loops that took them."""

import asyncio
import threading

from gateway.backends.bridge import Slots, Start


def test_a_slot_outlives_the_loop_that_took_it() -> None:
    slots = Slots(1)
    asyncio.run(slots.acquire())  # its loop is closed now, and the work still runs

    async def wait_for_it() -> None:
        threading.Timer(0.05, slots.release).start()
        await asyncio.wait_for(slots.acquire(), 60)

    asyncio.run(wait_for_it())


def test_waiters_are_served_in_order_and_those_who_left_are_passed_over() -> None:
    async def scene() -> list[str]:
        slots, served = Slots(1), list[str]()

        async def work(name: str) -> None:
            await slots.acquire()
            served.append(name)
            await asyncio.sleep(0.01)
            threading.Thread(target=slots.release).start()

        tasks = {name: asyncio.create_task(work(name)) for name in "abcd"}
        await asyncio.sleep(0.005)
        tasks["c"].cancel()
        await asyncio.wait(tasks.values(), timeout=60)
        return served

    assert asyncio.run(scene()) == ["a", "b", "d"]


def test_a_slot_granted_to_a_closed_loop_is_not_lost() -> None:
    slots = Slots(1)
    asyncio.run(slots.acquire())

    async def leave_while_waiting() -> None:
        task = asyncio.create_task(slots.acquire())
        await asyncio.sleep(0)
        task.cancel()

    asyncio.run(leave_while_waiting())
    slots.release()
    asyncio.run(asyncio.wait_for(slots.acquire(), 60))


def test_constrained_generations_begin_one_after_the_other_and_others_wait_for_none() -> None:
    first = Start(needed=True)
    Start(needed=False).end()
    begun = threading.Event()

    def follow() -> None:
        second = Start(needed=True)
        begun.set()
        second.end()

    follower = threading.Thread(target=follow)
    follower.start()
    assert not begun.wait(0.05)
    first.end()
    first.end()  # again: does nothing, not even to the one that follows
    assert begun.wait(60)
    follower.join()
