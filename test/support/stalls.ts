/**
 * How long work holds the event loop of this thread without a break, in CPU time of the thread, so that other
 * load on the machine counts as little as possible. It is compared with the CPU time of a fixed piece of
 * work, so that a slow machine may take longer.
 */

/** Milliseconds of CPU time for which nothing may hold the event loop, on a machine of usual speed. */
const MOST = 50

/** Milliseconds of CPU time of this thread. */
function cpu(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** The longest stretch in ms between two turns of the event loop until `work` ends, and its result. */
async function longestStall<V>(work: () => Promise<V>): Promise<{ stall: number; result: V }> {
  let [last, stall, isOver] = [cpu(), 0, false]
  const tick = () => {
    const now = cpu()
    stall = Math.max(stall, now - last)
    last = now
    if (!isOver) setTimeout(tick, 1)
  }
  tick()
  const result = await work()
  isOver = true
  tick()
  return { stall, result }
}

/**
 * How often it is tried at most: garbage of earlier work is collected at any time, in one piece that counts for
 * the work that happens to run.
 */
const TRIES = 5

/**
 * The shortest of the longest stalls in ms of a few tries, and the result of the last one. Work that was short
 * is not tried again.
 *
 * @param again makes another try the same work as the first: it undoes what the work has written
 */
export async function leastStall<V>(
  work: () => Promise<V>,
  again: () => Promise<unknown> = async () => {},
): Promise<{ stall: number; isShort: boolean; result: V }> {
  let { stall: least, result } = await longestStall(work)
  for (let tries = 1; !isShort(least) && tries < TRIES; tries++) {
    await again()
    const next = await longestStall(work)
    least = Math.min(least, next.stall)
    result = next.result
  }
  return { stall: least, isShort: isShort(least), result }
}

/** A text of 1.3 MiB, and the milliseconds that `JSON.parse` takes for it on a machine of usual speed. */
const TEXT = JSON.stringify(Array.from({ length: 30_000 }, (_, at) => ({ a: `name ${at}`, b: [at] })))
const USUAL = 10

/** How many times as long as usual this machine takes now, at least 1. */
function slowness(): number {
  const times = Array.from({ length: 7 }, () => {
    const from = cpu()
    JSON.parse(TEXT)
    return cpu() - from
  })
  return Math.max(1, (times.sort((a, b) => a - b)[3] ?? 0) / USUAL)
}

const atFirst = slowness()

/**
 * Whether nothing held the event loop for long. The machine is measured again if it was not fast enough at
 * first.
 */
function isShort(stall: number): boolean {
  return stall <= MOST * atFirst || stall <= MOST * slowness()
}
