/** HAProxy with the configuration and the script of the manual. */

import { join } from 'node:path'
import t from 'tap'
import { startBeside } from './beside.ts'
import { besideCases } from './beside-cases.ts'

const beside = await startBeside(t, (block) => ({
  program: 'haproxy',
  files: (folder) => ({
    'seatgate.lua': block('lua'),
    'haproxy.cfg': block('haproxy').replace('/etc/haproxy', folder),
  }),
  args: (folder) => ['-db', '-f', join(folder, 'haproxy.cfg')],
}))

besideCases(beside, 'forward')
