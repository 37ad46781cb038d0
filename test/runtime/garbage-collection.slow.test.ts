/**
 * V8 shrinks the young generation of an idle process: it must grow again, or each request costs three times as much. V8's
 * memory reducer discards optimized code: it must not run.
 */

import { execFile, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import t from 'tap'

const MODULE = new URL('../../src/runtime/garbage-collection.ts', import.meta.url).href

const PROGRAM = `
  import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
  import { setImmediate as turn } from 'node:timers/promises'
  import { runInNewContext } from 'node:vm'
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  setFlagsFromString('--semi-space-growth-factor=1')
  const { tuneGarbageCollection } = await import('${MODULE}')
  tuneGarbageCollection()
  const newSpace = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size
  let objects = []
  /** The largest size within the load. */
  async function allocate(rounds) {
    let largest = 0
    for (let round = 0; round < rounds; round++) {
      for (let i = 0; i < 2000; i++) objects.push({ a: i, b: [i] })
      if (objects.length > 20_000) objects = []
      largest = Math.max(largest, newSpace())
      await turn()
    }
    return largest
  }
  const sizes = []
  for (let load = 0; load < 3; load++) {
    const loaded = await allocate(1500)
    // As V8 does when it finds the process idle.
    collect({ type: 'major', flavor: 'last-resort', execution: 'sync' })
    sizes.push({ loaded, shrunken: newSpace() })
  }
  console.log(JSON.stringify(sizes))
`

const MiB = 1024 * 1024

t.test('three loads, and the generation is shrunken after each', async (t) => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', PROGRAM])
  for (const { loaded, shrunken } of JSON.parse(stdout) as { loaded: number; shrunken: number }[]) {
    t.ok(loaded >= 16 * MiB && loaded <= 48 * MiB, `${loaded} bytes`)
    t.ok(shrunken <= MiB, `${shrunken} bytes`)
  }
})

/** Its heap grows each time: V8 starts a timer of the memory reducer only after a collection of a heap that has grown. */
const GARBAGE = `
  let objects = []
  let most = 100_000
  setInterval(() => {
    for (let i = 0; i < 20_000; i++) objects.push({ a: [i], b: { c: i } })
    if (objects.length < most) return
    objects = []
    most += 100_000
  }, 10)
`

/** What V8 decided on the first three of its timers: to wait for less activity, to collect, or nothing. */
async function decisionsOfReducer(program: string): Promise<string[]> {
  const flags = ['--trace-memory-reducer', '--gc-memory-reducer-start-delay-ms=10', '--input-type=module']
  const child = spawn(process.execPath, [...flags, '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
  const decisions: string[] = []
  let timers = 0
  for await (const line of createInterface({ input: child.stdout })) {
    if (/waiting for|started GC/.test(line)) decisions.push(line)
    if (decisions.length > 0 || (/ alloc, /.test(line) && ++timers === 3)) break
  }
  child.kill('SIGKILL')
  return decisions
}

t.test('V8 would reduce the memory of a process', async (t) => {
  t.equal((await decisionsOfReducer(GARBAGE)).length, 1)
})

t.test('and decides against it in one that answers requests', async (t) => {
  const tuned = `const { tuneGarbageCollection } = await import('${MODULE}'); tuneGarbageCollection(); ${GARBAGE}`
  t.strictSame(await decisionsOfReducer(tuned), [])
})
