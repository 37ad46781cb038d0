/** V8 shrinks the young generation of an idle process: it must grow again, or each request costs three times as much. */

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'

const MODULE = new URL('../../src/runtime/young-generation.ts', import.meta.url).href

const PROGRAM = `
  import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
  import { setImmediate as turn } from 'node:timers/promises'
  import { runInNewContext } from 'node:vm'
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  setFlagsFromString('--semi-space-growth-factor=1')
  const { growYoungGeneration } = await import('${MODULE}')
  growYoungGeneration()
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
    t.ok(shrunken < MiB, `${shrunken} bytes`)
  }
})
