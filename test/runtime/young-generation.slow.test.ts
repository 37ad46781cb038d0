/** After an idle time, V8 shrinks the young generation: it must grow again, or each request costs three times as much. */

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'

const MODULE = new URL('../../src/runtime/young-generation.ts', import.meta.url).href

const PROGRAM = `
  import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
  import { setTimeout as sleep } from 'node:timers/promises'
  setFlagsFromString('--semi-space-growth-factor=1')
  const { growYoungGeneration } = await import('${MODULE}')
  growYoungGeneration()
  let objects = []
  const newSpace = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size
  /** The largest size within the load: a machine that pauses it lets V8 shrink the generation between two rounds. */
  async function allocate(rounds) {
    let largest = 0
    for (let round = 0; round < rounds; round++) {
      for (let i = 0; i < 2000; i++) objects.push({ a: i, b: [i] })
      if (objects.length > 20_000) objects = []
      largest = Math.max(largest, newSpace())
      await sleep(0)
    }
    return largest
  }
  const sizes = []
  for (let load = 0; load < 3; load++) {
    sizes.push(await allocate(3000))
    await sleep(8000)
  }
  console.log(JSON.stringify(sizes))
`

t.test('three loads with idle times between them', async (t) => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', PROGRAM])
  for (const size of JSON.parse(stdout) as number[]) {
    t.ok(size >= 16 * 1024 * 1024, `${size} bytes`)
    t.ok(size <= 48 * 1024 * 1024, `${size} bytes`)
  }
})
