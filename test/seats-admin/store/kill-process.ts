/** Writes records step by step until it is killed, and prints each acknowledged step at once. */

import { writeSync } from 'node:fs'
import { openStore } from '../../../seats-admin/index.ts'
import { KILLED } from './killed-records.ts'

const [, , location = '', kind = '', prefix = ''] = process.argv
const store = await openStore(JSON.parse(location))
const steps = Object.entries(KILLED.find(({ what }) => what === kind)?.steps ?? {})
for (let count = 0; ; count++) {
  const name = `${prefix}-${count}`
  for (const [verb, step] of steps.slice(0, 1 + (count % 3))) {
    await step(store, name)
    writeSync(1, `${verb} ${name}\n`)
  }
}
