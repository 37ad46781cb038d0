/** HAProxy with the configuration and the script of the manual. */

import { join } from 'node:path'
import t from 'tap'
import type { FilesOf } from './beside.ts'
import { besideCases } from './beside-cases.ts'
import { startLarge } from './beside-large.ts'

const files: FilesOf = (block) => ({
  program: 'haproxy',
  files: (folder) => ({
    'seatgate.lua': block('lua'),
    'haproxy.cfg': block('haproxy').replace('/etc/haproxy', folder),
  }),
  args: (folder) => ['-db', '-f', join(folder, 'haproxy.cfg')],
})

const small: FilesOf = (block) => files((language) => block(language).replace(/^ *tune\..*\n/gm, ''))

const cramped = await startLarge(small)
await besideCases(files, 'forward')

t.test('with the buffers that HAProxy has by itself, a request passes whole or is refused', async (t) => {
  const { callerOf, expected, wholeOrRefused } = cramped
  const caller = await callerOf(200)
  const whole = await expected(caller)
  for (const body of [15_000, 64 * 1024]) t.equal(await wholeOrRefused(caller, body, whole), 503)
})
