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
  async function allocate(rounds) {
    for (let round = 0; round < rounds; round++) {
      for (let i = 0; i < 2000; i++) objects.push({ a: i, b: [i] })
      if (objects.length > 20_000) objects = []
      await sleep(0)
    }
  }
  const sizes = []
  for (let load = 0; load < 3; load++) {
    await allocate(3000)
    sizes.push(getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size)
    await sleep(8000)
  }
  console.log(JSON.stringify(sizes))
`

t.test('three loads with idle times between them', async (t) => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', PROGRAM])
  for (const size of JSON.parse(stdout) as number[]) {
    t.ok(size >= 8 * 1024 * 1024, `${size} bytes`)
    t.ok(size <= 24 * 1024 * 1024, `${size} bytes`)
  }
})
