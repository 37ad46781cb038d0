/** Writes Seats until it is killed, and prints each acknowledged write at once. */

import { writeSync } from 'node:fs'
import { isRefusal, openStore } from '../../../seats-admin/index.ts'
import { ADMIN, writer } from './conformance.ts'

const [, , location = '', prefix = ''] = process.argv
const store = await openStore(JSON.parse(location))
for (let count = 0; ; count++) {
  const name = `${prefix}-${count}`
  const made = await store.createSeat(writer(ADMIN), {
    name,
    spaces: [name],
    permissions: permissionsOf(name),
  })
  if (isRefusal(made)) throw new Error(made.detail)
  writeSync(1, `made ${name}\n`)
  if (count % 3 === 0) continue
  const renamed = `${name}-renamed`
  await store.updateSeat(writer(ADMIN), made.value.id, {
    name: renamed,
    spaces: [renamed],
    permissions: permissionsOf(renamed),
  })
  writeSync(1, `renamed ${name}\n`)
  if (count % 3 === 1) continue
  await store.deleteSeat(writer(ADMIN), made.value.id)
  writeSync(1, `deleted ${name}\n`)
}

/** Enough to fill several pages. */
function permissionsOf(name: string): string[] {
  return Array.from({ length: 300 }, (_, at) => `${name}:${at}`)
}
