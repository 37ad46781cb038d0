/** Signs in, refreshes and signs out until it is killed, and prints each step at once. */

import { writeSync } from 'node:fs'
import { openStore } from '../../../seats-admin/index.ts'
import { NOW, proofOf, provider } from './session-records.ts'
import { nextHandle, sessionNamed } from './session-killed.ts'

const [, , location = '', prefix = ''] = process.argv
const { sessions } = await openStore(JSON.parse(location))
for (let count = 0; ; count++) {
  const session = sessionNamed(`${prefix}-${count}`)
  const { tenant, id } = session
  await sessions.create(session)
  writeSync(1, `created ${id}\n`)
  if (count % 3 === 0) continue
  const { outcome } = await sessions.rotate(provider(), id, proofOf(session), nextHandle(id))
  if (outcome !== 'rotated') throw new Error(outcome)
  writeSync(1, `rotated ${id}\n`)
  if (count % 3 === 1) continue
  if ((await sessions.end(tenant, id, NOW)) === null) throw new Error('no such session')
  writeSync(1, `ended ${id}\n`)
}
